-- sliding_list: an exact log of the permits admitted in (now - period, now], one stamp a permit, kept as a list.
--
-- KEYS[1]  the state: a list of stamps in microseconds, oldest first
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time
--          used)}; of a refund allowed = something was given back
-- EXPIRES  one period after the newest stamp; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/SlidingLogState.java
--
-- [algorithm]
local algorithm = {}

local function stamp_at(key, i)
  return tonumber(redis.call('LINDEX', key, i))
end

-- The first index from low on whose stamp is later than a time; size when there is none. Stamps ascend.
local function first_later(key, low, size, time)
  local high = size
  while low < high do
    local middle = math.floor((low + high) / 2)
    if stamp_at(key, middle) > time then high = middle else low = middle + 1 end
  end
  return low
end

-- The i-th live stamp (from 0). Once a call is written, a stamp later than now, left by a clock that stepped back, is now.
local function live(s, i)
  if i >= s.logged then return s.now end
  local stamp = i == 0 and s.head or stamp_at(s.key, s.first + i)
  return s.written and math.min(stamp, s.now) or stamp
end

function algorithm.look(s)
  local size, cut = redis.call('LLEN', s.key), s.now - s.period
  s.first = 0
  if size > 0 then
    s.head, s.tail = stamp_at(s.key, 0), stamp_at(s.key, -1)
    if s.tail <= cut then
      s.first = size
    elseif s.head <= cut then
      s.first, s.head = first_later(s.key, 1, size, cut), nil
    end
  end
  s.logged, s.written = size - s.first, false
  s.len = s.logged
  s.allowed = s.n == 0 or s.len + s.n <= s.limit
end

function algorithm.charge(s)
  s.len, s.written = s.len + s.n, true
end

-- Adds so many stamps; drops those that have expired, and moves those that are later than now.
local function rewrite(s, add)
  local keep = s.first + s.logged
  if s.logged > 0 and s.tail > s.now then
    local later = first_later(s.key, s.first, keep, s.now)
    keep, add = later, add + keep - later
  end
  if keep == s.first then
    redis.call('DEL', s.key)
  elseif s.first > 0 or keep < s.first + s.logged then
    redis.call('LTRIM', s.key, string.format('%.0f', s.first), string.format('%.0f', keep - 1))
  end
  s.first = 0
  local stamps = {}
  for i = 1, math.min(add, 1000) do stamps[i] = string.format('%.0f', s.now) end
  while add > 0 do
    local size = math.min(add, 1000)
    redis.call('RPUSH', s.key, unpack(stamps, 1, size))
    add = add - size
  end
  redis.call('PEXPIRE', s.key, string.format('%.0f', math.max(1, math.ceil(s.period / 1000))))
end

function algorithm.write(s)
  rewrite(s, s.n)
end

function algorithm.settle(s)
  if s.logged == 0 then return end
  if s.tail > s.now then
    rewrite(s, 0)
    s.written = true
    return
  end
  -- A longer period: the log must live as long as its newest stamp counts now.
  local left = math.floor((s.tail + s.period - 1) / 1000) - math.floor(s.now / 1000)
  local lives = redis.pcall('PTTL', s.key)
  -- No number: a user who may not ask, as documented for earlier versions.
  if type(lives) == 'number' and lives < left then redis.call('PEXPIRE', s.key, string.format('%.0f', left)) end
end

function algorithm.back(s, stamp)
  if stamp <= s.now - s.period then return false end
  local gone = redis.call('LREM', s.key, string.format('%.0f', s.n), string.format('%.0f', stamp))
  if gone == 0 then return false end
  s.head, s.tail = nil, nil
  algorithm.look(s)
  return true
end

function algorithm.state(s)
  if s.len == 0 then return -1, s.limit, 0, 0, s.now end
  local from = s.period - s.now
  local over = s.len + s.n - s.limit
  local retry = s.n > s.limit and -1 or not s.allowed and over > 0 and live(s, over - 1) + from
  local newest = s.len > s.logged and s.now or s.written and math.min(s.tail, s.now) or s.tail
  return retry, math.max(0, s.limit - s.len), live(s, math.max(0, s.len - s.limit)) + from, newest + from, s.now
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
