-- sliding_zset: an exact log of the permits admitted in (now - period, now], kept as a sorted set so that a call asked
-- again with its request id is charged once.
--
-- KEYS[1]  the state: a sorted set, one member a permit, scored with its stamp in microseconds. A member is
--          "<request id>:<i>", or ":<stamp>-<i>" for a call without an id (no id makes such a name)
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id ('' = none)  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time
--          used; of a repeated call the time of the first)}; of a refund allowed = something was given back
-- EXPIRES  one period after the newest stamp; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/SlidingLogState.java
--
-- [algorithm]
local algorithm = {}

local CHUNK = 1000

local function stamp_at(key, i)
  return tonumber(redis.call('ZRANGE', key, i, i, 'WITHSCORES')[2])
end

-- The i-th live stamp (from 0). Once a call is written, a stamp later than now, left by a clock that stepped back, is now.
local function live(s, i)
  if i >= s.logged then return s.now end
  local stamp = stamp_at(s.key, s.first + i)
  return s.written and math.min(stamp, s.now) or stamp
end

function algorithm.look(s)
  local size = redis.call('ZCARD', s.key)
  s.logged = size > 0 and redis.call('ZCOUNT', s.key, string.format('(%.0f', s.now - s.period), '+inf') or 0
  s.first, s.len, s.stamp, s.repeated = size - s.logged, s.logged, s.now, false
  s.allowed, s.written = s.n == 0 or s.len + s.n <= s.limit, false
  if s.id ~= '' and s.n > 0 and s.n <= s.limit and s.logged > 0 then
    local score = tonumber(redis.call('ZSCORE', s.key, s.id .. ':1') or '')
    if score and score > s.now - s.period then
      s.allowed, s.repeated, s.stamp = true, true, score
    end
  end
end

function algorithm.charge(s)
  if not s.repeated then s.len = s.len + s.n end
  s.written, s.stamp = true, math.min(s.stamp, s.now)
end

-- Runs one command on so many arguments at a time that they fit Lua's stack; the sum of its replies.
local function in_chunks(args, command)
  local sum = 0
  for from = 1, #args, CHUNK do
    sum = sum + command(unpack(args, from, math.min(#args, from + CHUNK - 1)))
  end
  return sum
end

-- Adds so many stamps; drops those that have expired, and moves those that are later than now.
local function rewrite(s, missing)
  local now = string.format('%.0f', s.now)
  local function add(flag, args)
    return in_chunks(args, function(...) return redis.call('ZADD', s.key, flag, ...) end)
  end
  if s.first > 0 then
    redis.call('ZREMRANGEBYSCORE', s.key, '-inf', string.format('%.0f', s.now - s.period))
    s.first = 0
  end
  local later = s.logged > 0 and redis.call('ZRANGEBYSCORE', s.key, '(' .. now, '+inf') or {}
  if #later > 0 then
    local restamped = {}
    for _, member in ipairs(later) do
      restamped[#restamped + 1] = now
      restamped[#restamped + 1] = member
    end
    add('XX', restamped)
  end
  local prefix, used = s.id .. ':', 0
  if s.id == '' then
    prefix = ':' .. now .. '-'
    used = s.logged > 0 and redis.call('ZCOUNT', s.key, now, now) or 0
  end
  while missing > 0 do
    -- A name that is taken (after a refund, or a clock that stepped) adds nothing; the next names make up for it.
    local members = {}
    for i = used + 1, used + missing do
      members[#members + 1] = now
      members[#members + 1] = prefix .. string.format('%.0f', i)
    end
    used = used + missing
    missing = missing - add('NX', members)
  end
  redis.call('PEXPIRE', s.key, string.format('%.0f', math.max(1, math.ceil(s.period / 1000))))
end

function algorithm.settle(s)
  if s.logged == 0 then return end
  local newest = stamp_at(s.key, -1)
  if newest > s.now then
    rewrite(s, 0)
    s.written, s.stamp = true, math.min(s.stamp, s.now)
    return
  end
  -- A longer period: the log must live as long as its newest stamp counts now.
  local left = math.floor((newest + s.period - 1) / 1000) - math.floor(s.now / 1000)
  local lives = redis.pcall('PTTL', s.key)
  -- No number: a user who may not ask, as documented for earlier versions.
  if type(lives) == 'number' and lives < left then redis.call('PEXPIRE', s.key, string.format('%.0f', left)) end
end

function algorithm.write(s)
  if s.repeated then algorithm.settle(s) else rewrite(s, s.n) end
end

function algorithm.back(s, stamp)
  if stamp <= s.now - s.period then return false end
  local at, gone = string.format('%.0f', stamp), {}
  if s.id == '' then
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', s.key, at, at)) do
      if #gone < s.n and string.find(member, '^:%d+%-%d+$') then gone[#gone + 1] = member end
    end
  elseif tonumber(redis.call('ZSCORE', s.key, s.id .. ':1') or '') == stamp then
    for i = 1, s.n do gone[i] = s.id .. ':' .. string.format('%.0f', i) end
  end
  local given = in_chunks(gone, function(...) return redis.call('ZREM', s.key, ...) end)
  if given == 0 then return false end
  algorithm.look(s)
  return true
end

function algorithm.state(s)
  if s.len == 0 then return -1, s.limit, 0, 0, s.stamp end
  local from = s.period - s.now
  local over = s.len + s.n - s.limit
  local retry = s.n > s.limit and -1 or not s.allowed and over > 0 and live(s, over - 1) + from
  return retry, math.max(0, s.limit - s.len), live(s, math.max(0, s.len - s.limit)) + from, live(s, s.len - 1) + from,
    s.stamp
end
-- [/algorithm]

-- [call] The same lines in every algorithm file: one call from KEYS and ARGV.
local s = {key = KEYS[1], n = tonumber(ARGV[1]), limit = tonumber(ARGV[2]), period = tonumber(ARGV[3]),
  burst = tonumber(ARGV[4]), id = ARGV[6] or ''}
local mode = ARGV[7] or ''
local max = 9007199254740991
local function whole(v) return v and v >= 0 and v <= max and v % 1 == 0 end
if not (s.key and whole(s.n) and whole(s.limit) and whole(s.period) and s.period > 0 and whole(s.burst)) then
  return redis.error_reply('ERR limiter: KEYS must be 1 key and ARGV[1..4] whole numbers: permits, limit, period_us'
    .. ' (at least 1), burst')
end
if ARGV[5] and ARGV[5] ~= '' then
  s.now = tonumber(ARGV[5])
  if not whole(s.now) then
    return redis.error_reply("ERR limiter: ARGV[5] must be '' or a whole number: now_us")
  end
else
  local time = redis.call('TIME')
  s.now = time[1] * 1000000 + time[2]
end
local stamp = tonumber(string.match(mode, '^back:(%d+)$') or '')
if not stamp and mode ~= '' and mode ~= 'look' then
  return redis.error_reply("ERR limiter: ARGV[7] must be '', 'look' or 'back:<stamp_us>'")
end
if s.limit == 0 then
  return {s.n == 0 and not stamp and 1 or 0, 0, (s.n == 0 or stamp) and 0 or -1, 0, 0, s.now}
end
algorithm.look(s)
if stamp then
  s.allowed = s.n > 0 and algorithm.back(s, stamp)
elseif s.allowed and s.n > 0 then
  algorithm.charge(s)
  if mode == '' then algorithm.write(s) end
elseif mode == '' and s.n > 0 then
  -- A denied call takes nothing, but the times in its answer hold only if a clock that stepped back, or a changed limit,
  -- applies from now on.
  algorithm.settle(s)
end
local retry, remaining, next_us, reset, used = algorithm.state(s)
return {s.allowed and 1 or 0, remaining, (s.allowed or stamp) and 0 or retry, next_us, reset, used}
