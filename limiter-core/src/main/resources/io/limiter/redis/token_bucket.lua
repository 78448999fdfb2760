-- token_bucket: permits refill continuously, up to a burst.
--
-- It grew from the article's script: tokens and a last time in a hash. There EXPIRE 60 made a slow bucket full again, a
-- clock that stepped back took tokens and minted them later, and fractions drifted. Here credit is counted in parts of
-- a permit, exactly: limit per period_us, reduced, is rate / parts; each microsecond adds rate, a permit is parts, a
-- full bucket is burst * parts (the caller keeps that below 2^52).
--
-- KEYS[1]  the state: a string of 33 bytes, the byte 0x02 and four little-endian doubles: credit in parts (below 0: a
--          debt, see holds.lua), the time in us from which it refills, the parts of a permit, when the key expires in
--          us; no key is a full bucket
-- ARGV     1 permits  2 limit (refilled per period)  3 period_us  4 burst (capacity)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = refund  8 and 9 unused: ''. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time from
--          which on it refills)}; of a refund allowed = something was given back
-- EXPIRES  an eighth and a second after it is full again by then: so few calls have to write a time to live
-- TWIN     io/limiter/inprocess/TokenBucketState.java
-- [algorithm]
-- The bucket: its level, from when on it refills, until when it is stored; of the present limit the parts, the rate and
-- a full level. s: of an earlier look at this limit in a batch, to be filled again, or nil.
local function look(c, s)
  if not s then
    local a, b = c.limit, c.period
    while b > 0 do a, b = b, a % b end
    s = {level = 0, from = 0, lives = 0, parts = c.period / a, rate = c.limit / a, full = 0, changed = false}
    s.full = c.burst * s.parts
  end
  local raw, parts, full = redis.call('GET', c.key), s.parts, s.full
  s.level, s.from, s.lives, s.changed = full, c.now, 0, false
  if not raw then return s end
  local kind, credit, from, stored
  if #raw == 33 then kind, credit, from, stored, s.lives = struct.unpack('<Bdddd', raw) end
  if kind ~= 2 then
    error('LIMITERSTATE the value of ' .. c.key .. ' is no token bucket; delete it or use another prefix')
  end
  if stored ~= parts then
    -- Under another limit. The credit stays in permits; a fraction is rounded down, less one: division may round up.
    local permits = math.floor(credit / stored)
    credit = permits * parts + math.max(0, math.floor((credit - permits * stored) / stored * parts) - 1)
  end
  credit = math.max(-full, credit)
  -- A clock that stepped back pauses the refill, for a period at most.
  if from > c.now + c.period then from, s.changed = c.now + c.period, true end
  local level = credit + math.max(0, c.now - from) * s.rate
  if level < full then s.level, s.from = level, math.max(from, c.now) end
  return s
end

local function admits(c, s) return c.n <= c.burst and s.level >= c.n * s.parts end

local function take(c, s) s.level, s.changed = s.level - c.n * s.parts, true end

-- How long until there is so much credit.
local function wait(c, s, wanted)
  return wanted <= s.level and 0 or s.from - c.now + math.ceil((wanted - s.level) / s.rate)
end

local function write(c, s)
  local left = wait(c, s, s.full)
  if left == 0 then
    redis.call('DEL', c.key)
  elseif s.lives >= c.now + left and not c.given then
    redis.call('SETRANGE', c.key, '0', struct.pack('<Bddd', 2, s.level, s.from, s.parts))
  else
    local state = struct.pack('<Bdddd', 2, s.level, s.from, s.parts, c.now + left * 9 / 8 + 1000000)
    redis.call('SET', c.key, state, 'PX', math.ceil(left / 1000 * 9 / 8 + 1000))
  end
end

-- Gives back what has not refilled since the call.
local function back(c, s, stamp)
  local taken, elapsed = c.n * s.parts, math.max(0, c.now - stamp)
  if c.n > c.burst or s.level == s.full or elapsed >= math.ceil(taken / s.rate) then return false end
  s.level, s.changed = math.min(s.full, s.level + taken - elapsed * s.rate), true
  return true
end

local function answer(c, s)
  local remaining = math.max(0, math.floor(s.level / s.parts))
  return c.n > c.burst and -1 or wait(c, s, c.n * s.parts), remaining,
    wait(c, s, math.min(c.burst, remaining + 1) * s.parts), wait(c, s, s.full), s.from
end
-- [/algorithm]

-- [call] The same lines in each file that runs alone: they read one call, decide it by the functions above, and answer.
local function whole(text, least)
  local value = tonumber(text or '')
  return value and value >= least and value < 2 ^ 53 and value % 1 == 0 and value
end

local args = ARGV
local given, mode, stamp = args[5] or '', args[7] or '', nil
local time = given == '' and redis.call('TIME')
local c = {key = KEYS[1], n = whole(args[1], 0), limit = whole(args[2], 0), period = whole(args[3], 1),
  burst = whole(args[4], 0), now = time and time[1] * 1000000 + time[2] or whole(given, 0), id = args[6] or '',
  options = args[9] or ''}
if not time then c.given = true end
if mode ~= '' then stamp = tonumber(string.match(mode, '^back:(%d+)$') or '') end
if not (c.key and c.n and c.limit and c.period and c.burst and c.now and (mode == '' or mode == 'look' or stamp)) then
  return redis.error_reply("ERR limiter: KEYS must be 1 key; ARGV 1 to 4 whole numbers: permits, limit, period_us (at"
    .. " least 1), burst; 5 '' or a whole number: now_us; 7 '', 'look' or 'back:<stamp_us>'")
end
-- A limit of 0 permits denies all, and has no state.
local s = c.limit > 0 and look(c)
local allowed, retry, remaining, next_us, reset, used = c.n == 0 and not stamp, -1, 0, 0, 0, c.now
if s and c.n > 0 then
  allowed = stamp and back(c, s, stamp) or not stamp and admits(c, s)
  if allowed and not stamp then take(c, s) end
  if s.changed and mode ~= 'look' then write(c, s) end
end
if s then retry, remaining, next_us, reset, used = answer(c, s, allowed) end
return {allowed and 1 or 0, remaining, (allowed or stamp) and 0 or retry, next_us, reset, used}
