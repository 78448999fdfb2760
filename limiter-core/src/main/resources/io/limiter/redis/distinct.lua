-- distinct: at most so many different members in a window that starts with the first one and ends one period later. A
-- member that is known is allowed again and costs nothing.
--
-- KEYS[1]  the state: a sorted set. The score of ' ' is the window's end in us; each other entry is a member, scored
--          with the time in us at which it was added, negative when it was used again since. The missing member is ''
-- ARGV     1 permits (any above 0 is one member)  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 member ('' = the missing one; never ' ')  7 '' = take, 'look' = answer as take would, write nothing (so
--          where it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund. 8 request
--          id (unused here: '')  9 'repeat=deny' = a known member is denied, '' = allowed. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed), next_us, reset_us, stamp_us (the time at which this
--          call added the member, 0 when it did not)}; of a refund allowed = the member was removed, which one that was
--          used again is not
-- EXPIRES  with the window; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/DistinctState.java
-- [algorithm]
-- The members: how many there are, the window's end, when this one was added (false: it is not known), the end that is
-- stored (0 = none), and the stamp of the call.
local function look(c)
  local member = c.id
  if member == ' ' then error("LIMITEROPTIONS ARGV[6] must not be ' ', which is the window's end") end
  local s = {count = 0, ends = 0, added = false, stored = 0, stamp = 0, latest = c.now + c.period, again = false,
    changed = false}
  local ends = tonumber(redis.call('ZSCORE', c.key, ' ') or '')
  if not ends or ends <= c.now then return s end
  s.count, s.stored, s.ends = redis.call('ZCARD', c.key) - 1, ends, ends
  -- A clock that stepped back, or a shorter period, cuts the window with the next call that may write.
  s.changed = ends > s.latest
  s.added = tonumber(redis.call('ZSCORE', c.key, member) or '') or false
  return s
end

local function admits(c, s)
  return s.added and c.options ~= 'repeat=deny' or not s.added and s.count < c.limit
end

local function take(c, s)
  if s.count == 0 or s.ends > s.latest then s.ends = s.latest end
  s.again, s.changed = s.added, true
  if not s.added then s.count, s.added, s.stamp = s.count + 1, c.now, c.now end
end

-- Removes all members of a window that is over, but not the key, which can't be written again in a slot of a cluster
-- that moves. Many would take longer than others should wait: they are forgotten with the key.
local function forget_all(c)
  local size = redis.call('ZCARD', c.key)
  if size > 5000 then
    redis.call('UNLINK', c.key)
  elseif size > 0 then
    redis.call('ZADD', c.key, '+inf', ' ')
    redis.call('ZREMRANGEBYSCORE', c.key, '-inf', '(+inf')
  end
end

local function write(c, s)
  if s.count == 0 then return redis.call('DEL', c.key) end
  s.ends = math.min(s.ends, s.latest)
  local text = string.format('%.0f', s.ends)
  if s.stored == 0 then forget_all(c) end
  if s.stamp > 0 or s.again and s.added > 0 then
    -- Used again: the refund of the call that added it must not make the others free.
    redis.call('ZADD', c.key, text, ' ', string.format('%.0f', s.stamp > 0 and s.stamp or -s.added), c.id)
  elseif s.ends ~= s.stored then
    redis.call('ZADD', c.key, text, ' ')
  end
  -- Redis forgets by its own clock. A given one may go slower, so then each write renews the time to live.
  if s.ends ~= s.stored or c.given then redis.call('PEXPIRE', c.key, math.ceil((s.ends - c.now) / 1000)) end
end

local function back(c, s, stamp)
  if stamp == 0 or s.added ~= stamp then
    s.changed = false
    return false
  end
  redis.call('ZREM', c.key, c.id)
  s.count, s.added, s.changed = s.count - 1, false, true
  return true
end

local function answer(c, s)
  local wait = s.count > 0 and s.ends - c.now or 0
  return wait, math.max(0, c.limit - s.count), wait, wait, s.stamp
end
-- [/algorithm]
