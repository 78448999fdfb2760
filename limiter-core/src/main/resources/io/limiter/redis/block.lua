-- block: counts the denials of the other limits of a policy in a window that starts with the first one; too many block
-- the key, for twice as long each time. What is allowed changes nothing; denials of a blocked key are not counted.
--
-- KEYS[1]  the state: a string of 41 bytes, a byte 4 and five little-endian doubles: denials counted, the window's end
--          in us, how long the last block was in us, its end, and when it is forgotten
-- ARGV     1 permits (any number but 0)  2 limit (so many denials block)  3 period_us  4 burst (= limit) 5 now_us ('' =
--          server TIME)  6 request id (unused here: '') 7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = refund, which gives nothing. 8 unused: ''  9 options: 'for=<us>,to=<us>,denied=<n>': the
--          first and the longest block, and how many denials to count (0 when left out; the sum where it comes twice).
--          Without for and to each block lasts one period
-- RETURNS  {allowed 0|1, denials left until it blocks, retry_after_us (0 allowed), next_us (until more are left),
--          reset_us (until all is forgotten), 0}; of a refund allowed = 0
-- EXPIRES  with the window, and after a block when it is forgotten: the longest block after its end
-- TWIN     io/limiter/inprocess/BlockState.java
-- [algorithm]
-- How long denials are counted still.
local function open(c, s) return s.count > 0 and s.ends > c.now and s.ends - c.now or 0 end

-- A block whose window and end are cut, because a clock stepped back or times are shorter now, with denials that count.
local function counted(c, before, denied)
  local s = {count = before.count, ends = before.ends, length = before.length, blocked = before.blocked,
    forget = before.forget}
  local first, longest = string.match(c.options, 'for=(%d+),to=(%d+)')
  first, longest = tonumber(first or c.period), tonumber(longest or c.period)
  local latest = c.now + math.min(s.length, longest)
  if s.ends > c.now + c.period then s.ends, s.changed = c.now + c.period, true end
  if s.blocked > latest then s.blocked, s.changed = latest, true end
  if s.forget > s.blocked + longest then s.forget, s.changed = s.blocked + longest, true end
  -- What was cut until nothing is left is forgotten, also if the clock steps back.
  if s.changed and s.forget <= c.now and open(c, s) == 0 then
    s.count, s.ends, s.length, s.blocked, s.forget = 0, 0, 0, 0, 0
  end
  if denied > 0 and s.blocked <= c.now then
    if s.count == 0 or s.ends <= c.now then s.count, s.ends = 0, c.now + c.period end
    s.count, s.changed = s.count + denied, true
    if s.count >= c.limit then
      s.length = math.min(longest, math.max(first, s.forget > c.now and 2 * s.length or 0))
      s.count, s.blocked, s.forget = 0, c.now + s.length, c.now + s.length + longest
    end
  end
  return s
end

-- The block: denials counted, until when they are; how long the last block was, its end, and when it is forgotten; and
-- the same after this call has counted.
local function look(c)
  local denied, raw = 0, redis.call('GET', c.key)
  local s = {count = 0, ends = 0, length = 0, blocked = 0, forget = 0, after = false, changed = false}
  for number in string.gmatch(c.n > 0 and c.options or '', 'denied=(%d+)') do denied = denied + number end
  if raw then
    local kind
    if #raw == 41 then
      kind, s.count, s.ends, s.length, s.blocked, s.forget = struct.unpack('<Bddddd', raw)
    end
    if kind ~= 4 then
      error('LIMITERSTATE the value of ' .. c.key .. ' is no block; delete it or use another prefix')
    end
  end
  s.after = counted(c, s, denied)
  s.changed = s.after.changed
  return s
end

local function admits(c, s) return s.after.blocked <= c.now end

local function take(_, s)
  for name, value in pairs(s.after) do s[name] = value end
end

local function write(c, s)
  take(c, s)
  local left = math.max(open(c, s), s.forget - c.now)
  if left <= 0 then
    redis.call('DEL', c.key)
    s.count, s.ends, s.length, s.blocked, s.forget = 0, 0, 0, 0, 0
  else
    redis.call('SET', c.key, struct.pack('<Bddddd', 4, s.count, s.ends, s.length, s.blocked, s.forget), 'PX',
      math.ceil(left / 1000))
  end
end

-- Gives nothing, and writes nothing.
local function back(_, s)
  s.changed = false
  return false
end

local function answer(c, s)
  local left, window = math.max(0, s.blocked - c.now), open(c, s)
  local counts = window > 0 and s.count or 0
  return left, left == 0 and counts < c.limit and c.limit - counts or 0, left > 0 and left or window,
    math.max(window, s.forget - c.now), 0
end
-- [/algorithm]
