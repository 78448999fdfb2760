-- token_bucket: permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit.
--
-- KEYS[1]  the state: a string "<credit>:<from, us>:<parts a permit>:<rate>:<full at, us>": so much credit at a time,
--          and when it is full again; no key is a full bucket
-- ARGV     1 permits  2 limit (refilled per period)  3 period_us  4 burst (capacity)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = refund
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time from
--          which on it refills)}; of a refund allowed = something was given back
-- EXPIRES  when full again; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/TokenBucketState.java
--
-- limit per period_us, reduced by their greatest common divisor, is rate / parts: each microsecond adds rate, a permit
-- is parts, a full bucket is burst * parts. The caller sees to it that a full bucket is at most 2^52.
--
-- [algorithm]
local algorithm = {}

-- The credit that stands now.
local function refill(s, credit, from)
  -- A clock that stepped back gives nothing until it is back where it was, or a period has passed.
  s.ahead = from > s.now + s.period
  from = math.min(from, s.now + s.period)
  s.from = math.max(from, s.now)
  local elapsed, whole = math.max(0, s.now - from), s.burst
  if s.stored_parts ~= s.parts or s.stored_rate ~= s.rate then
    -- Another rate or period. Nobody knows since when: the lesser of what both would have brought, in whole permits.
    whole = math.min(whole, math.floor((credit + elapsed * s.stored_rate) / s.stored_parts))
    credit = math.min(math.floor(credit / s.stored_parts), s.burst) * s.parts
  end
  -- More credit than a lowered burst holds is a full bucket.
  if elapsed < math.ceil((s.full - credit) / s.rate) then s.credit = credit + elapsed * s.rate end
  s.credit = math.min(s.credit, whole * s.parts)
end

-- How long until so much credit has come.
local function time(s, credit)
  return credit > 0 and s.from - s.now + math.ceil(credit / s.rate) or 0
end

function algorithm.look(s)
  local a, b = s.limit, s.period
  while b > 0 do a, b = b, a % b end
  s.rate, s.parts = s.limit / a, s.period / a
  s.full = s.burst * s.parts
  s.credit, s.from, s.ahead = s.full, s.now, false
  local raw = redis.call('GET', s.key)
  if raw then
    local credit, from, parts, rate, full_at = string.match(raw, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
    if not credit then
      error('LIMITERSTATE the value of ' .. s.key .. ' is no token bucket; delete it or use another prefix')
    end
    s.stored_parts, s.stored_rate, s.full_at = tonumber(parts), tonumber(rate), tonumber(full_at)
    if s.now < s.full_at then refill(s, tonumber(credit), tonumber(from)) end
  end
  s.allowed = s.n == 0 or s.n <= s.burst and s.credit >= s.n * s.parts
  s.retry = s.allowed and 0 or s.n > s.burst and -1 or time(s, s.n * s.parts - s.credit)
end

function algorithm.charge(s)
  s.credit = s.credit - s.n * s.parts
end

local function value(s, full_at)
  return string.format('%.0f:%.0f:%.0f:%.0f:%.0f', s.credit, s.from, s.parts, s.rate, full_at)
end

function algorithm.write(s)
  local left = time(s, s.full - s.credit)
  redis.call('SET', s.key, value(s, s.now + left), 'PX', string.format('%.0f', math.max(1, math.ceil(left / 1000))))
end

algorithm.settle = algorithm.write

function algorithm.back(s, stamp)
  -- What has refilled since the call was given back already. Under another limit than that of the call nobody knows.
  local taken, elapsed = s.n * s.parts, math.max(0, s.now - stamp)
  if s.n > s.burst or s.credit == s.full or s.stored_parts ~= s.parts or s.stored_rate ~= s.rate
      or elapsed >= math.ceil(taken / s.rate) then
    return false
  end
  s.credit = math.min(s.full, s.credit + taken - elapsed * s.rate)
  -- The burst may have been raised since: the state lives on as long as it would have.
  redis.call('SET', s.key, value(s, s.full_at), 'KEEPTTL')
  return true
end

function algorithm.state(s)
  local missing = s.full - s.credit
  return math.floor(s.credit / s.parts), missing > 0 and time(s, s.parts - s.credit % s.parts) or 0, time(s, missing), s.from
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
  s.retry = 0
elseif s.allowed and s.n > 0 then
  algorithm.charge(s)
  if mode == '' then algorithm.write(s) end
elseif mode == '' and s.ahead and s.retry > 0 then
  -- The clock stepped back. Who asks again and again while denied must not be locked out until it is where it was.
  algorithm.settle(s)
end
local remaining, next_us, reset, used = algorithm.state(s)
return {s.allowed and 1 or 0, remaining, s.retry, next_us, reset, used}
