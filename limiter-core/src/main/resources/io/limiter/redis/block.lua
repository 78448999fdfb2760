-- block: counts the denials of the other limits of a policy in a window that starts with the first one; too many block the key,
-- for twice as long each time. A call that is allowed changes nothing, and denials while it is blocked are not counted.
--
-- KEYS[1]  the state: a string of 41 bytes, a byte 4 and five little-endian doubles: denials counted, the window's end in us,
--          how long the last block was in us, its end, and when it is forgotten
-- ARGV     1 permits (any number but 0)  2 limit (so many denials block)  3 period_us  4 burst (= limit)
--          5 now_us ('' = server TIME)  6 request id (unused here: '')
--          7 '' = take, 'look' = answer as take would, write nothing, 'back:<stamp_us>' = refund, which gives nothing.
--          8 unused: ''  9 options: 'for=<us>,to=<us>,denied=<n>': the first and the longest block, and how many
--          denials to count (0 when left out; the sum where it comes twice). Without for and to each block lasts one period
-- RETURNS  {allowed 0|1, denials left until it blocks, retry_after_us (0 allowed), next_us (until more are left),
--          reset_us (until all is forgotten), 0}; of a refund allowed = 0
-- EXPIRES  with the window, and after a block when it is forgotten: the longest block after its end
-- TWIN     io/limiter/inprocess/BlockState.java
--
-- [algorithm]
-- The state, and how many denials this call counts.
local function look(key, _, n, _, _, _, _, _, options)
  local raw, denied = redis.call('GET', key), 0
  if n > 0 then
    for number in string.gmatch(options, 'denied=(%d+)') do denied = denied + number end
  end
  if not raw then return 0, 0, 0, 0, 0, denied end
  local kind, count, ends, length, blocked, forget
  if #raw == 41 then kind, count, ends, length, blocked, forget = struct.unpack('<Bddddd', raw) end
  if kind ~= 4 then error('LIMITERSTATE the value of ' .. key .. ' is no block; delete it or use another prefix') end
  return count, ends, length, blocked, forget, denied
end

-- How long denials are counted still.
local function open(now, count, ends)
  return count > 0 and ends > now and ends - now or 0
end

-- The state after this call, and whether it differs.
local function counted(now, limit, period, options, count, ends, length, blocked, forget, denied)
  local first, longest = string.match(options, 'for=(%d+),to=(%d+)')
  first, longest = tonumber(first or period), tonumber(longest or period)
  -- A clock that stepped back, or shorter times, cut the window and the block.
  local changed, latest = false, now + math.min(length, longest)
  if ends > now + period then ends, changed = now + period, true end
  if blocked > latest then blocked, changed = latest, true end
  if forget > blocked + longest then forget, changed = blocked + longest, true end
  -- What was cut until nothing is left is forgotten, also if the clock steps back.
  if changed and forget <= now and open(now, count, ends) == 0 then
    count, ends, length, blocked, forget = 0, 0, 0, 0, 0
  end
  if denied > 0 and blocked <= now then
    if count == 0 or ends <= now then count, ends = 0, now + period end
    count, changed = count + denied, true
    if count >= limit then
      length = math.min(longest, math.max(first, forget > now and 2 * length or 0))
      count, blocked, forget = 0, now + length, now + length + longest
    end
  end
  return count, ends, length, blocked, forget, changed
end

local function charge(now, _, limit, period, _, count, ends, length, blocked, forget, denied, options)
  local changed
  count, ends, length, blocked, forget, changed =
    counted(now, limit, period, options, count, ends, length, blocked, forget, denied)
  if blocked > now then return nil end
  return count, ends, length, blocked, forget, changed
end

local function write(key, now, _, _, _, _, _, count, ends, length, blocked, forget, changed)
  if changed then
    local left = math.max(open(now, count, ends), forget - now)
    if left <= 0 then
      redis.call('DEL', key)
      return 0, 0, 0, 0, 0
    end
    redis.call('SET', key, struct.pack('<Bddddd', 4, count, ends, length, blocked, forget), 'PX', math.ceil(left / 1000))
  end
  return count, ends, length, blocked, forget
end

local function settle(key, now, n, limit, period, burst, id, count, ends, length, blocked, forget, denied, _, options)
  return write(key, now, n, limit, period, burst, id,
    counted(now, limit, period, options, count, ends, length, blocked, forget, denied))
end

local function back(_, _, _, _, _, _, _, _, ...)
  return false, ...
end

local function answer(_, now, _, limit, _, _, _, count, ends, _, blocked, forget)
  local left, window = math.max(0, blocked - now), open(now, count, ends)
  local counts = window > 0 and count or 0
  return left, left == 0 and counts < limit and limit - counts or 0, left > 0 and left or window,
    math.max(window, forget - now), 0
end
-- [/algorithm]
