-- concurrent: how many permits calls in flight hold, by instance. An instance that does not renew its own is dead, and they come back.
--
-- KEYS[1]  the state: a string of a byte 5 and, for each instance, 4 little-endian doubles: its number, when it is dead in us, how
--          many permits it holds, and how many times these have changed, from a time in us on
-- ARGV     1 permits  2 limit  3 period_us (how long an instance lives without a sign)  4 burst (= limit)  5 now_us ('' = server
--          TIME)  6 the number of the instance that asks  7 '' = take, 'look' = answer as take would, write nothing, 'back:0' = end
--          8 '', or of a 'back' 'renew': the instance lives on  9 '10': where the following are ('' for none)
--          10 the latest number of changes that it knows, in hexadecimal digits, which take less time to read, and where it holds
--          some, a comma and how many permits. If the state has fewer changes, it was lost: then these are held again, without asking
--          11 of a renewal 1 if nothing of that instance is on its way: then, with that number of changes, it holds so many
-- RETURNS  {allowed 0|1, remaining (below 0 where more is held than the limit), retry_after_us (0 allowed, -1 never, -8 unknown),
--          permits of this instance, how many of them were held again, its number of changes}; of an end allowed = something was held,
--          of a renewal the state has mine
-- EXPIRES  when the last instance is dead
-- TWIN     io/limiter/inprocess/ConcurrentState.java, with one instance that never dies
--
local given = ARGV[5] and ARGV[5] ~= ''
-- [algorithm]
local MOST = 1000

-- What the instance tells: how many permits it holds, and its number of changes.
local function told(at)
  local known, mine = string.match(ARGV[at], '^(%x+),?(.*)$')
  return tonumber(mine) or 0, tonumber(known, 16)
end

-- The state: what others hold, what this instance holds, its number of changes, the entries of the others, until when this instance
-- lives or, if that is to be renewed, minus when the last of the others is dead, and how many permits this instance holds again.
local function look(key, now, _, _, period, _, id, _, options)
  local at, by, mine, known = tonumber(options), tonumber(id), 0, 0
  if at then mine, known = told(at) end
  local raw, others, own, ops, rest, lives, latest, again = redis.call('GET', key), 0, 0, 0, nil, 0, 0, 0
  if raw then
    if #raw % 32 ~= 1 or string.byte(raw) ~= 5 then
      error('LIMITERSTATE the value of ' .. key .. ' is no calls in flight; delete it or use another prefix')
    end
    for i = 2, #raw, 32 do
      local holder, ends, count, changes = struct.unpack('<dddd', raw, i)
      if ends <= now then
        -- It is dead.
      elseif holder == by then
        own, ops = count, changes
        -- To set a time to live costs more than all else, so a sign of life counts only if the last one is a sixteenth of the period old.
        if ends <= now + period and ends > now + period - period / 16 then lives = ends end
      else
        rest = rest or {}
        others, rest[#rest + 1] = others + count, string.sub(raw, i, i + 31)
        if ends > latest then latest = ends end
      end
    end
  end
  if ops < known and (ops > 0 or mine > 0) then
    again, own, ops = math.max(0, mine - own), math.max(mine, own), math.max(now, known)
  end
  return others, own, ops, rest and table.concat(rest) or '', lives > 0 and lives or -latest, again
end

local function charge(now, n, limit, _, _, others, own, ops, rest, lives, again)
  if others + own + n > limit or #rest >= 32 * MOST then return nil end
  return others, own + n, (ops > 0 and ops or now) + 1, rest, lives, again
end

local function write(key, now, _, _, period, _, id, others, own, ops, rest, lives, again)
  local ends = lives > 0 and lives or now + period
  local state = struct.pack('<Bdddd', 5, tonumber(id) or 0, ends, own, ops) .. rest
  if lives > 0 then
    redis.call('SET', key, state, 'KEEPTTL')
  else
    -- A given clock may stand still, while that of Redis goes on: a minute more.
    redis.call('SET', key, state, 'PX', math.ceil((math.max(ends, -lives) - now) / 1000) + (given and 60000 or 0))
  end
  return others, own, ops, rest, lives, again
end

local function settle(key, now, n, limit, period, burst, id, others, own, ops, rest, lives, again)
  if again == 0 then return others, own, ops, rest, lives, again end
  return write(key, now, n, limit, period, burst, id, others, own, ops, rest, lives, again)
end

local function back(key, now, n, limit, period, burst, id, _, others, own, ops, rest, lives, again, request, options)
  local ended = own > 0
  if request == 'renew' then
    local mine, known = told(options + 0)
    ended = ARGV[options + 1] == '1' and (ops == known or ops == 0 or again > 0)
    if ended then own = mine end
    if ops == 0 then return ended, others, own, ops, rest, lives, again end
  elseif again == 0 then
    -- Also where it was dead: it would hold them again if the clock stepped back.
    own, ops = math.max(0, own - n), (ops > 0 and ops or now) + 1
  end
  return ended, write(key, now, n, limit, period, burst, id, others, own, ops, rest, lives, again)
end

local function answer(_, _, n, limit, _, _, _, others, own, ops, _, _, again)
  return n > limit and -1 or -8, limit - others - own, own, again, ops
end
-- [/algorithm]
