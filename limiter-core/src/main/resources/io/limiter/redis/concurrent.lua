-- concurrent: at most so many permits of calls in flight. A permit is held until its call ends, or until nobody has
-- renewed it for a period: then the instance has died.
--
-- KEYS[1]  the state: a sorted set of a member for each permit: <id of the call>:<from 1 on>, scored with its end in us
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)  6 id of the call  7 '' =
--          take, 'look' = answer as take would, write nothing, 'back:0' = end  8 '', or of a take 'again' = without
--          asking, or of a 'back:0' 'renew' = hold it for a period from now on, if it is held  9 unused: ''
-- RETURNS  {allowed 0|1, remaining (below 0 where more is held than the limit), retry_after_us (0 allowed, -1 never, -8
--          unknown), 0, 0, 0}; of an end allowed = something was there, of a renewal it is held
-- EXPIRES  soon after the last permit
-- TWIN     io/limiter/inprocess/ConcurrentState.java, whose instance never dies alone
-- [algorithm]
-- Counted where it is needed: an end has something to remove first.
local function held(c, s)
  s.held = s.held or redis.call('ZCOUNT', c.key, c.now + 1, '+inf')
  return s.held
end

local function look(c, s)
  c.request = c.request or ARGV[8] or ''
  if c.writes == nil then c.writes = ARGV[7] ~= 'look' end
  s = s or {held = false, changed = false}
  s.held, s.changed = false, false
  return s
end

-- Gives the key its time to live. A clock that stepped back, from which it has too much, lengthens nothing by more than
-- its own time once more, or 30 s: so a call with a longer period, renewed each 10 s, stays.
local function fit(c)
  -- A given clock may stand still, while that of Redis goes on: a minute more.
  local life, left = math.ceil(c.period / 1000) + (c.given and 60000 or 0), redis.call('PTTL', c.key)
  if left < life then redis.call('PEXPIRE', c.key, math.floor(life * 9 / 8)) end
  if left > life * 9 / 8 or c.given then
    local latest = c.now + math.max(c.period, 30000000)
    for _, late in ipairs(redis.call('ZRANGEBYSCORE', c.key, latest + 1, '+inf', 'LIMIT', 0, 50)) do
      redis.call('ZADD', c.key, latest, late)
    end
  end
end

local function admits(c, s)
  local allowed = c.request == 'again' or held(c, s) + c.n <= c.limit
  -- Where instances died before the clock stepped back, nobody else writes.
  if not allowed and c.writes then fit(c) end
  return allowed
end

local function take(c, s)
  s.changed = true
  -- Some of what is repeated may still be held: it is counted when it is written.
  if c.request ~= 'again' then s.held = held(c, s) + c.n end
end

-- The members of the call from one on, as many as a command can have. Each behind the score, if there is one.
local function members(c, from, score)
  local list = {}
  for i = from, math.min(c.n, from + 999) do
    if score then list[#list + 1] = score end
    list[#list + 1] = c.id .. ':' .. i
  end
  return unpack(list)
end

-- Also forgets what has run out.
local function write(c, s)
  for from = 1, c.n, 1000 do redis.call('ZADD', c.key, members(c, from, c.now + c.period)) end
  if redis.call('ZCARD', c.key) > held(c, s) then
    redis.call('ZREM', c.key, unpack(redis.call('ZRANGEBYSCORE', c.key, 0, c.now, 'LIMIT', 0, 50)))
  end
  fit(c)
end

local function back(c, s)
  if c.request == 'renew' then
    -- All permits of a call end at the same time.
    s.changed = tonumber(redis.call('ZSCORE', c.key, c.id .. ':1') or 0) > c.now
    return s.changed
  end
  local ended = 0
  for from = 1, c.n, 1000 do ended = ended + redis.call('ZREM', c.key, members(c, from)) end
  return ended > 0
end

local function answer(c, s) return c.n > c.limit and -1 or -8, c.limit - held(c, s), 0, 0, 0 end
-- [/algorithm]
