-- fixed_window: a counter that starts with the first admitted call and ends one period later.
--
-- KEYS[1]  the state: a string "<count>:<window's end, us>"
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us,
--          stamp_us (the window's end, 0 when none stands)}; of a refund allowed = something was given back
-- EXPIRES  with the window; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/FixedWindowState.java
--
-- [algorithm]
local algorithm = {}

function algorithm.look(s)
  s.count, s.ends = 0, 0
  local raw = redis.call('GET', s.key)
  if raw then
    local count, ends = string.match(raw, '^(%d+):(%d+)$')
    if not count then
      error('LIMITERSTATE the value of ' .. s.key .. ' is no fixed window; delete it or use another prefix')
    end
    ends = tonumber(ends)
    if ends > s.now then s.count, s.ends = tonumber(count), ends end
  end
  s.allowed = s.n == 0 or s.count + s.n <= s.limit
end

function algorithm.charge(s)
  s.ends = math.min(s.count > 0 and s.ends or math.huge, s.now + s.period)
  s.count = s.count + s.n
end

function algorithm.write(s)
  redis.call('SET', s.key, string.format('%.0f:%.0f', s.count, s.ends),
    'PX', string.format('%.0f', math.max(1, math.ceil((s.ends - s.now) / 1000))))
end

-- A clock that stepped back, or a shorter period, cuts the window.
function algorithm.settle(s)
  if s.ends > s.now + s.period then
    s.ends = s.now + s.period
    algorithm.write(s)
  end
end

function algorithm.back(s, stamp)
  if s.count == 0 or s.ends ~= stamp then return false end
  s.count = math.max(0, s.count - s.n)
  if s.count == 0 then
    s.ends = 0
    redis.call('DEL', s.key)
  else
    s.ends = math.min(s.ends, s.now + s.period)
    algorithm.write(s)
  end
  return true
end

function algorithm.state(s)
  local left = s.count > 0 and s.ends - s.now or 0
  return s.n > s.limit and -1 or left, math.max(0, s.limit - s.count), left, left, s.ends
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
