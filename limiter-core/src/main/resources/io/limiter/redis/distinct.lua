-- distinct: at most so many different members in a window that starts with the first one and ends one period later. A
-- member that is known is allowed again and costs nothing.
--
-- KEYS[1]  the state: a sorted set. The score of ' ' is the window's end in us; each other entry is a member, scored with the
--          time in us at which it was added, negative when it was used again since. The missing member is ''
-- ARGV     1 permits (any above 0 is one member)  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 member ('' = the missing one; never ' ')  7 '' = take, 'look' = answer as take would, write nothing (so
--          where it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund.
--          8 request id (unused here: '')  9 'repeat=deny' = a known member is denied, '' = allowed. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed), next_us, reset_us, stamp_us (the time at which this call added
--          the member, 0 when it did not)}; of a refund allowed = the member was removed, which one that was
--          used again is not
-- EXPIRES  with the window; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/DistinctState.java
--
local given = ARGV[5] and ARGV[5] ~= ''
-- [algorithm]
-- The state: how many members there are, the window's end, when this member was added (false: it is not known), the end that
-- is stored, and the stamp of the call.
local function look(key, now, _, _, _, _, member)
  if member == ' ' then error("LIMITEROPTIONS ARGV[6] must not be ' ', which is the window's end") end
  local ends = tonumber(redis.call('ZSCORE', key, ' ') or '')
  if not ends or ends <= now then return 0, 0, false, 0, 0 end
  return redis.call('ZCARD', key) - 1, ends, tonumber(redis.call('ZSCORE', key, member) or '') or false, ends, 0
end

-- A clock that stepped back, or a shorter period, cuts the window.
local function cut(now, period, count, ends)
  if count == 0 or ends > now + period then return now + period end
  return ends
end

local function charge(now, _, limit, period, _, count, ends, added, stored, _, _, options)
  if added and options ~= 'repeat=deny' then return count, cut(now, period, count, ends), added, stored, 0 end
  if added or count >= limit then return nil end
  return count + 1, cut(now, period, count, ends), false, stored, now
end

-- Removes all members of a window that is over, but not the key, which can't be written again in a slot of a cluster that moves. Many
-- would take longer than others should wait: they are forgotten with the key.
local function forget_all(key)
  local size = redis.call('ZCARD', key)
  if size > 5000 then
    -- An error: a user who may not, as documented for earlier versions.
    if type(redis.pcall('UNLINK', key)) ~= 'number' then redis.call('DEL', key) end
  elseif size > 0 then
    redis.call('ZADD', key, '+inf', ' ')
    redis.call('ZREMRANGEBYSCORE', key, '-inf', '(+inf')
  end
end

local function write(key, now, _, _, _, _, member, count, ends, added, stored, stamp)
  local text = string.format('%.0f', ends)
  if stored == 0 then forget_all(key) end
  if stamp > 0 then
    redis.call('ZADD', key, text, ' ', string.format('%.0f', stamp), member)
  elseif added and added > 0 then
    -- Used again: the refund of the call that added it must not make the others free.
    redis.call('ZADD', key, text, ' ', string.format('%.0f', -added), member)
  elseif ends ~= stored then
    redis.call('ZADD', key, text, ' ')
  end
  -- Redis forgets by its own clock. A given one may go slower, so then each write renews the time to live.
  if ends ~= stored or given then redis.call('PEXPIRE', key, math.ceil((ends - now) / 1000)) end
  return count, ends, added, ends, stamp
end

local function settle(key, now, _, _, period, _, member, count, ends, added, stored, stamp)
  if ends <= now + period then return count, ends, added, stored, stamp end
  return write(key, now, 0, 0, 0, 0, member, count, now + period, false, stored, 0)
end

local function back(key, now, _, _, period, _, member, stamp, count, ends, added, stored)
  if stamp == 0 or added ~= stamp then return false, count, ends, added, stored, 0 end
  if count == 1 then
    redis.call('DEL', key)
    return true, 0, 0, false, 0, 0
  end
  redis.call('ZREM', key, member)
  return true, write(key, now, 0, 0, 0, 0, member, count - 1, cut(now, period, count, ends), false, stored, 0)
end

local function answer(_, now, _, limit, _, _, _, count, ends, _, _, stamp)
  local wait = count > 0 and ends - now or 0
  return wait, count < limit and limit - count or 0, wait, wait, stamp
end
-- [/algorithm]
