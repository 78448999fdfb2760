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

-- Without waiting until its memory is free.
local function forget_all(key)
  -- An error: a user who may not, as documented for earlier versions.
  if type(redis.pcall('UNLINK', key)) ~= 'number' then redis.call('DEL', key) end
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

-- [call] The same lines in every algorithm file: one call, read from KEYS and ARGV. The up to six values a to f are the state, as look
-- returns it; each algorithm has its own names for them.
local number = tonumber
local key, n, limit, period, burst = KEYS[1], number(ARGV[1]), number(ARGV[2]), number(ARGV[3]), number(ARGV[4])
local max = 9007199254740991
if not (key and n and limit and period and burst and n >= 0 and n <= max and limit >= 0 and limit <= max and period > 0
    and period <= max and burst >= 0 and burst <= max and n % 1 + limit % 1 + period % 1 + burst % 1 == 0) then
  return redis.error_reply('ERR limiter: KEYS must be 1 key and ARGV[1..4] whole numbers: permits, limit, period_us'
    .. ' (at least 1), burst')
end
local now, id, mode = ARGV[5] or '', ARGV[6] or '', ARGV[7] or ''
if now == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = number(now)
  if not (now and now >= 0 and now <= max and now % 1 == 0) then
    return redis.error_reply("ERR limiter: ARGV[5] must be '' or a whole number: now_us")
  end
end
local request, options = ARGV[8] or '', ARGV[9] or ''
local take, stamp = mode == '', nil
if not take and mode ~= 'look' then
  stamp = number(string.match(mode, '^back:(%d+)$') or '')
  if not stamp then return redis.error_reply("ERR limiter: ARGV[7] must be '', 'look' or 'back:<stamp_us>'") end
end
if limit == 0 then
  return {n == 0 and not stamp and 1 or 0, 0, (n == 0 or stamp) and 0 or -1, 0, 0, now}
end
local a, b, c, d, e, f = look(key, now, n, limit, period, burst, id, request, options)
local allowed = n == 0
if stamp then
  allowed = false
  if n > 0 then
    allowed, a, b, c, d, e, f = back(key, now, n, limit, period, burst, id, stamp, a, b, c, d, e, f, request, options)
  end
elseif n > 0 then
  local g, h, i, j, k, l = charge(now, n, limit, period, burst, a, b, c, d, e, f, options)
  if g then
    allowed, a, b, c, d, e, f = true, g, h, i, j, k, l
    if take then a, b, c, d, e, f = write(key, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options) end
  elseif take then
    -- A denied call takes nothing, but the times in its answer hold only if a clock that stepped back, or a changed limit,
    -- applies from now on.
    a, b, c, d, e, f = settle(key, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options)
  end
end
local retry, remaining, next_us, reset, used = answer(key, now, n, limit, period, burst, allowed, a, b, c, d, e, f, options)
return {allowed and 1 or 0, remaining, (allowed or stamp) and 0 or retry, next_us, reset, used}
