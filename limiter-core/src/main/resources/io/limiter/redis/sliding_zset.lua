-- sliding_zset: an exact log of the permits admitted in (now - period, now], kept as a sorted set so that a call asked
-- again with its request id is charged once.
--
-- KEYS[1]  the state: a sorted set, one member a permit, scored with its stamp in microseconds. A member is
--          "<request id>:<i>", or ":<stamp>-<i>" for a call without an id (no id makes such a name)
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id ('' = none)  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund.
--          8 request id beside a member and 9 options: not used by it. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time
--          used; of a repeated call the time of the first)}; of a refund allowed = something was given back
-- EXPIRES  one period after the newest stamp; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/SlidingLogState.java
--
-- [algorithm]
local CHUNK, MOST = 1000, 256

local function stamp_at(key, i)
  return tonumber(redis.call('ZRANGE', key, i, i, 'WITHSCORES')[2])
end

-- The state: the length of the log with what was charged, the rank of its first live stamp, how many are stored from there on,
-- the stamp of the call, whether it repeats one that was admitted, and whether a call is written. Once it is, a stamp
-- later than now, left by a clock that stepped back, is now.
local function look(key, now, n, limit, period, _, id)
  local size = redis.call('ZCARD', key)
  if size == 0 then return 0, 0, 0, now, false, false end
  -- Scores are whole numbers, so this is later than now - period.
  local logged = redis.call('ZCOUNT', key, now - period + 1, '+inf')
  if id ~= '' and n > 0 and n <= limit and logged > 0 then
    local score = tonumber(redis.call('ZSCORE', key, id .. ':1') or '')
    if score and score > now - period then return logged, size - logged, logged, score, true, false end
  end
  return logged, size - logged, logged, now, false, false
end

-- The i-th live stamp (from 0).
local function live(key, now, i, first, logged, written)
  if i >= logged then return now end
  -- None where the key has just been written for a millisecond that was over at once.
  local stamp = stamp_at(key, first + i) or now
  return written and stamp > now and now or stamp
end

local function charge(now, n, limit, _, _, len, first, logged, stamp, repeated)
  if repeated then return len, first, logged, stamp > now and now or stamp, true, true end
  if len + n > limit then return nil end
  return len + n, first, logged, now, false, true
end

-- Runs one command on so many arguments at a time that they fit Lua's stack; the sum of its replies.
local function in_chunks(args, command)
  local sum = 0
  for from = 1, #args, CHUNK do
    sum = sum + command(unpack(args, from, math.min(#args, from + CHUNK - 1)))
  end
  return sum
end

-- Removes stamps that have expired: more than the call adds, and those with its names. Returns how many are left.
local function drop(key, now, period, id, first, missing)
  local expired = redis.call('ZRANGE', key, 0, math.min(first, MOST + 2 * missing) - 1)
  for i = 1, first > #expired and id ~= '' and missing or 0 do
    local name = id .. ':' .. string.format('%.0f', i)
    if tonumber(redis.call('ZSCORE', key, name) or now) <= now - period then expired[#expired + 1] = name end
  end
  return first - in_chunks(expired, function(...) return redis.call('ZREM', key, ...) end)
end

-- Adds so many stamps; drops some that have expired, and moves those that are later than now. Returns the rank of the first live.
local function rewrite(key, now, period, id, first, logged, missing)
  local text = string.format('%.0f', now)
  local function add(flag, args)
    return in_chunks(args, function(...) return redis.call('ZADD', key, flag, ...) end)
  end
  -- In a slot of a cluster that moves, a key that is gone can't be written again: a member that no call has keeps it.
  local lone = first > 0 and logged == 0
  if lone then redis.call('ZADD', key, text, '') end
  if first > 0 then first = drop(key, now, period, id, first, missing) end
  local later = logged > 0 and redis.call('ZRANGEBYSCORE', key, now + 1, '+inf') or {}
  if #later > 0 then
    local restamped = {}
    for _, member in ipairs(later) do
      restamped[#restamped + 1] = text
      restamped[#restamped + 1] = member
    end
    add('XX', restamped)
  end
  local prefix, used = id == '' and ':' .. text .. '-' or id .. ':', 0
  if missing == 1 and redis.call('ZADD', key, 'NX', text, prefix .. '1') == 1 then
    missing = 0
  elseif missing > 0 and id == '' then
    used = logged > 0 and redis.call('ZCOUNT', key, text, text) or 0
  end
  while missing > 0 do
    -- A name that is taken (after a refund, or a clock that stepped) adds nothing; the next names make up for it.
    local members = {}
    for i = used + 1, used + missing do
      members[#members + 1] = text
      members[#members + 1] = prefix .. string.format('%.0f', i)
    end
    used = used + missing
    missing = missing - add('NX', members)
  end
  if lone then redis.call('ZREM', key, '') end
  redis.call('PEXPIRE', key, math.ceil(period / 1000))
  return first
end

local function settle(key, now, _, _, period, _, id, len, first, logged, stamp, repeated, written)
  if logged == 0 then return len, first, logged, stamp, repeated, written end
  local newest = stamp_at(key, -1)
  if newest > now then
    first = rewrite(key, now, period, id, first, logged, 0)
    return len, first, logged, stamp > now and now or stamp, repeated, true
  end
  -- A longer period: the log must live as long as its newest stamp counts now.
  local left = math.max(1, math.floor((newest + period - 1) / 1000) - math.floor(now / 1000))
  local lives = redis.pcall('PTTL', key)
  -- No number: a user who may not ask, as documented for earlier versions.
  if type(lives) == 'number' and lives < left then redis.call('PEXPIRE', key, left) end
  return len, first, logged, stamp, repeated, written
end

local function write(key, now, n, limit, period, burst, id, len, first, logged, stamp, repeated)
  if repeated then
    return settle(key, now, n, limit, period, burst, id, len, first, logged, stamp, repeated, true)
  end
  first = rewrite(key, now, period, id, first, logged, len - logged)
  return len, first, logged, stamp, repeated, true
end

local function back(key, now, n, limit, period, burst, id, stamp, ...)
  if stamp <= now - period then return false, ... end
  local at, gone = string.format('%.0f', stamp), {}
  if id == '' then
    -- There may be many of one time.
    local from, some = 0, nil
    repeat
      some = redis.call('ZRANGEBYSCORE', key, at, at, 'LIMIT', from, MOST)
      for _, member in ipairs(some) do
        if #gone < n and string.find(member, '^:%d+%-%d+$') then gone[#gone + 1] = member end
      end
      from = from + #some
    until #gone >= n or #some < MOST
  elseif tonumber(redis.call('ZSCORE', key, id .. ':1') or '') == stamp then
    for i = 1, n do gone[i] = id .. ':' .. string.format('%.0f', i) end
  end
  if in_chunks(gone, function(...) return redis.call('ZREM', key, ...) end) == 0 then return false, ... end
  return true, look(key, now, n, limit, period, burst, id)
end

local function answer(key, now, n, limit, period, _, allowed, len, first, logged, stamp, _, written)
  if len == 0 then return -1, limit, 0, 0, stamp end
  local from, over, excess = period - now, len + n - limit, len > limit and len - limit or 0
  local next_us = live(key, now, excess, first, logged, written) + from
  local retry = n > limit and -1
    or not allowed and over > 0 and (over - 1 == excess and next_us or live(key, now, over - 1, first, logged, written) + from)
  return retry, len < limit and limit - len or 0, next_us, live(key, now, len - 1, first, logged, written) + from, stamp
end
-- [/algorithm]
local kind = 'sliding-zset'
