-- token_bucket: permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit.
--
-- KEYS[1]  the state: a string "<credit>:<stamp, us>:<parts a permit>"; no key is a full bucket
-- ARGV     1 permits  2 limit (refilled per period)  3 period_us  4 burst (capacity)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = refund
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time
--          used)}; of a refund allowed = something was given back
-- EXPIRES  when full again; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/TokenBucketState.java
--
-- limit per period_us, reduced by their greatest common divisor, is rate / parts: each microsecond adds rate, a permit
-- is parts, a full bucket is burst * parts. The caller sees to it that a full bucket plus one rate is below 2^53.
--
-- [algorithm]
local algorithm = {}

function algorithm.look(s)
  local a, b = s.limit, s.period
  while b > 0 do a, b = b, a % b end
  s.rate, s.parts = s.limit / a, s.period / a
  s.full = s.burst * s.parts
  s.credit = s.full
  local raw = redis.call('GET', s.key)
  if raw then
    local credit, stamp, parts = string.match(raw, '^(%d+):(%d+):(%d+)$')
    if not credit then
      error('limiter: the value of ' .. s.key .. ' is no token bucket; delete it or use another prefix')
    end
    credit, stamp, parts = tonumber(credit), tonumber(stamp), tonumber(parts)
    if parts ~= s.parts then
      -- Another period or rate: whole permits carry over.
      credit = math.min(math.floor(credit / parts), s.burst) * s.parts
    end
    -- A clock that stepped back gives nothing. More credit than a lowered burst holds is a full bucket.
    local elapsed = math.max(0, s.now - stamp)
    if elapsed < math.ceil((s.full - credit) / s.rate) then s.credit = credit + elapsed * s.rate end
  end
  s.allowed = s.n == 0 or s.n <= s.burst and s.credit >= s.n * s.parts
  s.retry = s.allowed and 0 or s.n > s.burst and -1 or math.ceil((s.n * s.parts - s.credit) / s.rate)
end

function algorithm.charge(s)
  s.credit = s.credit - s.n * s.parts
end

function algorithm.write(s)
  redis.call('SET', s.key, string.format('%.0f:%.0f:%.0f', s.credit, s.now, s.parts),
    'PX', string.format('%.0f', math.max(1, math.ceil(math.ceil((s.full - s.credit) / s.rate) / 1000))))
end

function algorithm.back(s, stamp)
  -- What has refilled since the call was given back already.
  local taken, elapsed = math.min(s.n, s.burst) * s.parts, math.max(0, s.now - stamp)
  if s.credit == s.full or elapsed >= math.ceil(taken / s.rate) then return false end
  s.credit = math.min(s.full, s.credit + taken - elapsed * s.rate)
  if s.credit == s.full then redis.call('DEL', s.key) else algorithm.write(s) end
  return true
end

function algorithm.state(s)
  local missing = s.full - s.credit
  return math.floor(s.credit / s.parts), missing > 0 and math.ceil((s.parts - s.credit % s.parts) / s.rate) or 0,
    math.ceil(missing / s.rate), s.now
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
end
local remaining, next_us, reset, used = algorithm.state(s)
return {s.allowed and 1 or 0, remaining, s.retry, next_us, reset, used}
