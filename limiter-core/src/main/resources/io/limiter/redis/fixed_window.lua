-- fixed_window: at most so many permits in a window that starts with the first admitted call and ends one period later.
--
-- It grew from the article's INCR, and EXPIRE when the count is 1. There denied calls counted too, a key that lost its
-- expiry denied for ever, and nobody was told when to come back. Here what is denied takes nothing, and each state has
-- a time to live.
--
-- KEYS[1]  the state: a string of 17 bytes, the byte 0x01 and two little-endian doubles: count, window's end in us
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = refund  8 unused: ''  9 options: '' = a window lasts one period, 'turns=<us>,<us>' =
--          windows turn at calendar time: the next two turns by the caller's clock. The first that is later than now
--          counts; period_us is then how long a window can last. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us (to one more), reset_us (to all),
--          stamp_us (the window's end, else 0; of a limit of 0 now)}; of a refund allowed = something was given back
-- EXPIRES  with the window; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/FixedWindowState.java
-- [algorithm]
-- When a window ends that begins now.
local function latest(c)
  if c.options == '' then return c.now + c.period end
  local first, second = string.match(c.options, '^turns=(%d+),(%d+)$')
  if not first then error("LIMITEROPTIONS ARGV[9] must be '' or 'turns=<us>,<us>', not " .. c.options) end
  local turn = tonumber(first)
  if turn <= c.now then turn = tonumber(second) end
  -- If the clocks differ, the turn may be past or more than a period away: moved by whole periods to within one.
  return c.now + 1 + (turn - c.now - 1) % c.period
end

-- The window: its count, its end, that end as it is stored (a refund names it), and the latest end that a window has
-- now. s: of an earlier look at this limit in a batch, to be filled again, or nil.
local function look(c, s)
  local raw, kind, count, ends = redis.call('GET', c.key), nil, nil, nil
  s = s or {count = 0, ends = 0, stored = 0, latest = latest(c), changed = false}
  s.count, s.ends, s.stored, s.changed = 0, 0, 0, false
  if not raw then return s end
  if #raw == 17 then kind, count, ends = struct.unpack('<Bdd', raw) end
  if kind ~= 1 then
    error('LIMITERSTATE the value of ' .. c.key .. ' is no fixed window; delete it or use another prefix')
  end
  if ends > c.now and count > 0 then
    -- A clock that stepped back, or a shorter period, ends it sooner. Its count stays.
    s.count, s.ends, s.stored = count, ends, ends
    if ends > s.latest then s.ends, s.changed = s.latest, true end
  end
  return s
end

local function admits(c, s) return s.count + c.n <= c.limit end

local function take(c, s)
  if s.count == 0 then s.ends = s.latest end
  s.count, s.changed = s.count + c.n, true
end

-- A window that goes on keeps its time to live. Redis forgets by its own clock: a given one may go slower.
local function write(c, s)
  if s.count == 0 then
    redis.call('DEL', c.key)
  elseif s.ends == s.stored and not c.given then
    redis.call('SETRANGE', c.key, '0', struct.pack('<Bdd', 1, s.count, s.ends))
  else
    redis.call('SET', c.key, struct.pack('<Bdd', 1, s.count, s.ends), 'PX', math.ceil((s.ends - c.now) / 1000))
  end
end

-- Gives back, while the same window stands.
local function back(c, s, stamp)
  if s.count == 0 or s.stored ~= stamp then return false end
  s.count, s.changed = math.max(0, s.count - c.n), true
  return true
end

local function answer(c, s)
  if s.count == 0 then return c.n > c.limit and -1 or 0, c.limit, 0, 0, 0 end
  local left = s.ends - c.now
  return c.n > c.limit and -1 or left, s.count < c.limit and c.limit - s.count or 0, left, left, s.ends
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
