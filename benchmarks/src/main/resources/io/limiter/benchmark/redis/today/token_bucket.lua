-- token_bucket: permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit.
--
-- KEYS[1]  the state: a string "<credit>:<from, us>:<parts a permit>:<rate>:<full at, us>": so much credit at a time,
--          and when it is full again; no key is a full bucket
-- ARGV     1 permits  2 limit (refilled per period)  3 period_us  4 burst (capacity)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund
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

-- floor(a * b / c) and the rest, for a < c: exact, though the product may be above 2^53.
local function scaled(a, b, c)
  local quotient, rest, bit = 0, 0, 4503599627370496
  while bit >= 1 do
    quotient, rest = quotient * 2, rest * 2
    if rest >= c then quotient, rest = quotient + 1, rest - c end
    if b >= bit then
      b, rest = b - bit, rest + a
      if rest >= c then quotient, rest = quotient + 1, rest - c end
    end
    bit = bit / 2
  end
  return quotient, rest
end

-- Credit in stored parts as credit in parts of the present limit, rounded down; a full bucket at most.
local function converted(s, credit)
  local whole = math.floor(credit / s.stored_parts)
  if whole >= s.burst then return s.full end
  return whole * s.parts + (scaled(credit - whole * s.stored_parts, s.parts, s.stored_parts))
end

-- The credit that is there now. For the time before a changed limit was seen: the lesser of what both rates brought.
local function refill(s)
  local elapsed, most, credit = math.max(0, s.now - s.stored_from), s.full, s.stored_credit
  s.pending = s.stored_parts ~= s.parts or s.stored_rate ~= s.rate
  if s.pending then
    most = converted(s, credit + elapsed * s.stored_rate)
    credit = converted(s, credit)
  end
  s.base = credit
  local filled = math.ceil((s.full - credit) / s.rate)
  -- More credit than a lowered burst holds is a full bucket.
  s.credit = elapsed < filled and math.min(most, credit + elapsed * s.rate) or most
  -- A full bucket refills from now on, as a new one does.
  if s.credit < s.full then s.from = math.max(s.stored_from, s.now) end
  -- The state would be full, and expire, before a raised burst is.
  s.pending = s.pending or s.full_at < s.stored_from + filled
end

-- How long until there is so much credit. While a changed limit is pending: until both rates have brought it, or the
-- state expires.
local function time(s, credit)
  if credit <= s.credit then return 0 end
  if not s.pending then return s.from - s.now + math.ceil((credit - s.credit) / s.rate) end
  local whole = math.floor(credit / s.parts)
  local part, rest = scaled(credit - whole * s.parts, s.stored_parts, s.parts)
  local stored = whole * s.stored_parts + part + (rest > 0 and 1 or 0)
  local wait = math.max(math.ceil((credit - s.base) / s.rate), math.ceil((stored - s.stored_credit) / s.stored_rate))
  return math.min(s.stored_from + wait, s.full_at) - s.now
end

function algorithm.look(s)
  local a, b = s.limit, s.period
  while b > 0 do a, b = b, a % b end
  s.rate, s.parts = s.limit / a, s.period / a
  s.full = s.burst * s.parts
  s.credit, s.from, s.pending = s.full, s.now, false
  local raw = redis.call('GET', s.key)
  if raw then
    local credit, from, parts, rate, full_at = string.match(raw, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
    if not credit then
      error('LIMITERSTATE the value of ' .. s.key .. ' is no token bucket; delete it or use another prefix')
    end
    s.stored_credit, s.stored_from, s.full_at = tonumber(credit), tonumber(from), tonumber(full_at)
    s.stored_parts, s.stored_rate = tonumber(parts), tonumber(rate)
    if s.now < s.full_at then refill(s) end
  end
  s.allowed = s.n == 0 or s.n <= s.burst and s.credit >= s.n * s.parts
end

-- From now on the present limit applies, and a clock that stepped back costs a period at most.
local function renew(s)
  s.from, s.pending = math.min(s.from, s.now + s.period), false
end

function algorithm.charge(s)
  renew(s)
  s.credit = s.credit - s.n * s.parts
end

local function value(s, full_at)
  return string.format('%.0f:%.0f:%.0f:%.0f:%.0f', s.credit, s.from, s.parts, s.rate, full_at)
end

function algorithm.write(s)
  local left = time(s, s.full)
  redis.call('SET', s.key, value(s, s.now + left), 'PX', string.format('%.0f', math.max(1, math.ceil(left / 1000))))
end

function algorithm.settle(s)
  if s.pending or s.from > s.now + s.period then
    renew(s)
    if s.credit < s.full then algorithm.write(s) else redis.call('DEL', s.key) end
  end
end

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
  local whole = math.floor(s.credit / s.parts)
  local retry = s.n > s.burst and -1 or not s.allowed and time(s, s.n * s.parts)
  return retry, whole, time(s, math.min(s.full, (whole + 1) * s.parts)), time(s, s.full), s.from
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
