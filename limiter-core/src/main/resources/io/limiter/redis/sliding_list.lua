-- sliding_list: an exact log of the permits admitted in (now - period, now], one stamp a permit, kept as a list.
--
-- KEYS[1]  the state: a list of stamps in microseconds, oldest first
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund.
--          8 request id beside a member and 9 options: not used by it. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time
--          used)}; of a refund allowed = something was given back
-- EXPIRES  one period after the newest stamp; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/SlidingLogState.java
--
-- [algorithm]
local function stamp_at(key, i)
  return tonumber(redis.call('LINDEX', key, i))
end

-- The first index from low on whose stamp is later than a time, and that stamp; size when there is none. Stamps ascend, and it is
-- looked for near low first.
local function first_later(key, low, size, time)
  local high, step, found = size, 1, nil
  while low < high do
    local middle = math.min(low + step - 1, math.floor((low + high) / 2))
    local stamp = stamp_at(key, middle)
    if stamp > time then
      high, found = middle, stamp
    else
      low, step = middle + 1, step * 2
    end
  end
  return low, found
end

-- The state: the length of the log with what was charged, the index of its first live stamp, how many are stored from there on,
-- the first and the last of those, and whether a call is written. Once it is, a stamp later than now, left by a clock that
-- stepped back, is now.
local function look(key, now, _, _, period)
  local size, cut = redis.call('LLEN', key), now - period
  if size == 0 then return 0, 0, 0 end
  local head = stamp_at(key, 0)
  local tail = size == 1 and head or stamp_at(key, -1)
  if head > cut then return size, 0, size, head, tail, false end
  if tail <= cut then return 0, size, 0 end
  local first, stamp = first_later(key, 1, size, cut)
  return size - first, first, size - first, stamp, tail, false
end

-- The i-th live stamp (from 0).
local function live(key, now, i, first, logged, head, written)
  if i >= logged then return now end
  -- None where the key has just been written for a millisecond that was over at once.
  local stamp = i == 0 and head or stamp_at(key, first + i) or now
  return written and stamp > now and now or stamp
end

local function charge(_, n, limit, _, _, len, first, logged, head, tail)
  if len + n > limit then return nil end
  return len + n, first, logged, head, tail, true
end

-- Adds what was charged; drops the stamps that have expired, and moves those that are later than now. The list is never
-- empty in between: in a slot of a cluster that moves, a key that is gone can't be written again.
local function write(key, now, _, _, period, _, _, len, first, logged, head, tail)
  local stored, keep, add = first + logged, first + logged, len - logged
  if logged > 0 and tail > now then
    local later = first_later(key, first, keep, now)
    keep, add = later, add + keep - later
  end
  if keep > first and (first > 0 or keep < stored) then redis.call('LTRIM', key, first, keep - 1) end
  if add == 1 then
    redis.call('RPUSH', key, now)
  elseif add > 0 then
    local stamps, text, left = {}, string.format('%.0f', now), add
    for i = 1, math.min(add, 1000) do stamps[i] = text end
    while left > 0 do
      local size = math.min(left, 1000)
      redis.call('RPUSH', key, unpack(stamps, 1, size))
      left = left - size
    end
  end
  if keep == first and stored > 0 then redis.call('LTRIM', key, -add, -1) end
  redis.call('PEXPIRE', key, math.ceil(period / 1000))
  return len, 0, logged, head, tail, true
end

local function settle(key, now, n, limit, period, burst, id, len, first, logged, head, tail)
  if logged == 0 then return len, first, logged end
  if tail > now then return write(key, now, n, limit, period, burst, id, len, first, logged, head, tail) end
  -- A longer period: the log must live as long as its newest stamp counts now.
  local left = math.max(1, math.floor((tail + period - 1) / 1000) - math.floor(now / 1000))
  local lives = redis.pcall('PTTL', key)
  -- No number: a user who may not ask, as documented for earlier versions.
  if type(lives) == 'number' and lives < left then redis.call('PEXPIRE', key, left) end
  return len, first, logged, head, tail, false
end

local function back(key, now, n, limit, period, burst, id, stamp, len, first, logged, head, tail)
  if stamp <= now - period or redis.call('LREM', key, n, stamp) == 0 then
    return false, len, first, logged, head, tail, false
  end
  return true, look(key, now, n, limit, period)
end

local function answer(key, now, n, limit, period, _, allowed, len, first, logged, head, tail, written)
  if len == 0 then return -1, limit, 0, 0, now end
  local from, over = period - now, len + n - limit
  local retry = n > limit and -1
    or not allowed and over > 0 and live(key, now, over - 1, first, logged, head, written) + from
  local newest = (len > logged or written and tail > now) and now or tail
  return retry, len < limit and limit - len or 0,
    live(key, now, len > limit and len - limit or 0, first, logged, head, written) + from, newest + from, now
end
-- [/algorithm]
local kind = 'sliding-list'
