-- concurrent: how many permits calls in flight hold, by instance. An instance that does not renew its own is dead, and they come back.
--
-- KEYS[1]  the state: a string of a byte 5 and, for each instance, 4 little-endian doubles: its number, when it is dead in us, how
--          many permits it holds, and how many times these have changed, from a time in us on
-- ARGV     1 permits  2 limit  3 period_us (how long an instance lives without a sign)  4 burst (= limit)  5 now_us ('' = server
--          TIME)  6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing, 'back:<stamp_us>' = end
--          8 unused: ''  9 options: 'by=<instance>,mine=<n>,ops=<n>': who asks, how many permits it knows that it holds, and the
--          latest number of changes that it knows. Where the state knows of fewer changes, it was lost: mine is held again, without
--          asking. ',renew=<0|1>' makes an end a renewal: the instance lives on, and with 1 it holds mine if there were so many changes
-- RETURNS  {allowed 0|1, remaining (below 0 where more is held than the limit), retry_after_us (0 allowed, -1 never, -8 unknown),
--          permits of this instance, how many of them were held again, its number of changes}; of an end allowed = something was held,
--          of a renewal the state has mine
-- EXPIRES  when the last instance is dead
-- TWIN     io/limiter/inprocess/ConcurrentState.java, with one instance that never dies
--
-- [algorithm]
local MOST = 1000

-- The state: what others hold, what this instance holds, its number of changes, the entries of the others, when the last of them is
-- dead, and how many permits this instance holds again.
local function look(key, now, _, _, _, _, _, _, options)
  local by, mine, known = string.match(options or '', '^by=(%d+),mine=(%d+),ops=(%d+)')
  by, mine, known = tonumber(by or 0), tonumber(mine or 0), tonumber(known or 0)
  local raw, others, own, ops, rest, latest, again = redis.call('GET', key), 0, 0, 0, {}, 0, 0
  if raw then
    if #raw % 32 ~= 1 or string.byte(raw) ~= 5 then
      error('LIMITERSTATE the value of ' .. key .. ' is no calls in flight; delete it or use another prefix')
    end
    for i = 2, #raw, 32 do
      local holder, ends, count, changes = struct.unpack('<dddd', raw, i)
      if ends > now then
        if holder == by then
          own, ops = count, changes
        else
          others, rest[#rest + 1], latest = others + count, string.sub(raw, i, i + 31), math.max(latest, ends)
        end
      end
    end
  end
  if ops < known and (ops > 0 or mine > 0) then
    again, own, ops = math.max(0, mine - own), math.max(mine, own), math.max(now, known)
  end
  return others, own, ops, table.concat(rest), latest, again
end

local function charge(now, n, limit, _, _, others, own, ops, rest, latest, again)
  if others + own + n > limit or #rest >= 32 * MOST then return nil end
  return others, own + n, (ops > 0 and ops or now) + 1, rest, latest, again
end

local function write(key, now, _, _, period, _, _, others, own, ops, rest, latest, again, _, options)
  local by, ends = tonumber(string.match(options or '', '^by=(%d+)') or 0), now + period
  redis.call('SET', key, struct.pack('<Bdddd', 5, by, ends, own, ops) .. rest, 'PX',
    math.ceil((math.max(ends, latest) - now) / 1000))
  return others, own, ops, rest, latest, again
end

local function settle(key, now, n, limit, period, burst, id, others, own, ops, rest, latest, again, request, options)
  if again == 0 then return others, own, ops, rest, latest, again end
  return write(key, now, n, limit, period, burst, id, others, own, ops, rest, latest, again, request, options)
end

local function back(key, now, n, limit, period, burst, id, _, others, own, ops, rest, latest, again, request, options)
  local mine, known, sets = string.match(options or '', ',mine=(%d+),ops=(%d+),renew=([01])')
  local ended = own > 0
  if mine then
    ended = sets == '1' and (ops == tonumber(known) or ops == 0 or again > 0)
    if ended then own = tonumber(mine) end
    if ops == 0 then return ended, others, own, ops, rest, latest, again end
  elseif again == 0 then
    -- Also where it was dead: it would hold them again if the clock stepped back.
    own, ops = math.max(0, own - n), (ops > 0 and ops or now) + 1
  end
  return ended, write(key, now, n, limit, period, burst, id, others, own, ops, rest, latest, again, request, options)
end

local function answer(_, _, n, limit, _, _, _, others, own, ops, _, _, again)
  return n > limit and -1 or -8, limit - others - own, own, again, ops
end
-- [/algorithm]
