-- concurrent: how many permits calls in flight hold, by instance. An instance that does not renew its own is dead, and
-- they come back.
--
-- KEYS[1]  the state: a string of a byte 5 and, for each instance, 4 little-endian doubles: its number, when it is dead
--          in us, how many permits it holds, and how many times these have changed, from a time in us on
-- ARGV     1 permits  2 limit  3 period_us (how long an instance lives without a sign)  4 burst (= limit)  5 now_us (''
--          = server TIME)  6 the number of the instance that asks  7 '' = take, 'look' = answer as take would, write
--          nothing, 'back:0' = end 8 '', or of a 'back' 'renew': the instance lives on  9 '10': where the following are
--          ('' for none) 10 the latest number of changes that it knows, in hexadecimal digits, which take less time to
--          read, and where it holds some, a comma and how many permits. If the state has fewer changes, it was lost:
--          then these are held again, without asking 11 of a renewal 1 if nothing of that instance is on its way: then,
--          with that number of changes, it holds so many
-- RETURNS  {allowed 0|1, remaining (below 0 where more is held than the limit), retry_after_us (0 allowed, -1 never, -8
--          unknown), permits of this instance, how many of them were held again, its number of changes}; of an end
--          allowed = something was held, of a renewal the state has mine
-- EXPIRES  when the last instance is dead
-- TWIN     io/limiter/inprocess/ConcurrentState.java, with one instance that never dies
--
-- [algorithm]
local MOST = 1000

-- What the instance tells: how many permits it holds, and its number of changes.
local function told(at)
  local known, mine = string.match(ARGV[at], '^(%x+),?(.*)$')
  return tonumber(mine) or 0, tonumber(known, 16)
end

-- The calls: what others hold, what this instance holds (own), its number of changes (ops), the entries of the others
-- (rest), until when this instance lives or, if that is to be renewed, minus when the last of the others is dead; how
-- many
-- permits this instance holds again.
local function look(c, s)
  s = s or {others = 0, own = 0, ops = 0, again = 0, changed = false, rest = '', lives = 0}
  local at, by, mine, known = tonumber(c.options), tonumber(c.id), 0, 0
  if at then mine, known = told(at) end
  local rest, lives, latest = {}, 0, 0
  s.others, s.own, s.ops, s.again = 0, 0, 0, 0
  local raw = redis.call('GET', c.key)
  if raw and (#raw % 32 ~= 1 or string.byte(raw) ~= 5) then
    error('LIMITERSTATE the value of ' .. c.key .. ' is no calls in flight; delete it or use another prefix')
  end
  for i = 2, raw and #raw or 0, 32 do
    local holder, ends, count, changes = struct.unpack('<dddd', raw, i)
    if ends <= c.now then
      -- It is dead.
    elseif holder == by then
      s.own, s.ops = count, changes
      -- To set a time to live costs more than all else, so a sign of life counts only if the last one is a sixteenth of
      -- the period old.
      if ends <= c.now + c.period and ends > c.now + c.period - c.period / 16 then lives = ends end
    else
      s.others, rest[#rest + 1], latest = s.others + count, string.sub(raw, i, i + 31), math.max(latest, ends)
    end
  end
  if s.ops < known and (s.ops > 0 or mine > 0) then
    s.again, s.own, s.ops = math.max(0, mine - s.own), math.max(mine, s.own), math.max(c.now, known)
  end
  s.changed = s.again > 0
  s.rest, s.lives = table.concat(rest), lives > 0 and lives or -latest
  return s
end

local function admits(c, s) return s.others + s.own + c.n <= c.limit and #s.rest < 32 * MOST end

local function take(c, s) s.own, s.ops, s.changed = s.own + c.n, (s.ops > 0 and s.ops or c.now) + 1, true end

local function write(c, s)
  local ends = s.lives > 0 and s.lives or c.now + c.period
  local state = struct.pack('<Bdddd', 5, tonumber(c.id) or 0, ends, s.own, s.ops) .. s.rest
  if s.lives > 0 then
    redis.call('SET', c.key, state, 'KEEPTTL')
  else
    -- A given clock may stand still, while that of Redis goes on: a minute more.
    redis.call('SET', c.key, state, 'PX',
      math.ceil((math.max(ends, -s.lives) - c.now) / 1000) + (c.given and 60000 or 0))
  end
end

local function back(c, s)
  local ended = s.own > 0
  s.changed = true
  if (c.request or ARGV[8]) == 'renew' then
    local mine, known = told(c.options + 0)
    ended = ARGV[c.options + 1] == '1' and (s.ops == known or s.ops == 0 or s.again > 0)
    if ended then s.own = mine end
    s.changed = s.ops > 0
  elseif s.again == 0 then
    -- Also where it was dead: it would hold them again if the clock stepped back.
    s.own, s.ops = math.max(0, s.own - c.n), (s.ops > 0 and s.ops or c.now) + 1
  end
  return ended
end

local function answer(c, s) return c.n > c.limit and -1 or -8, c.limit - s.others - s.own, s.own, s.again, s.ops end
-- [/algorithm]
