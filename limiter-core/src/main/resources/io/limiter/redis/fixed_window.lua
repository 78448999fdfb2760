-- fixed_window: a counter that starts with the first admitted call and ends one period later, or at the next turn of a calendar.
--
-- KEYS[1]  the state: a string of 17 bytes, a byte 1 and two little-endian doubles: count, window's end in us. With reservations as
--          in hold_records.lua
-- ARGV     1 permits  2 limit  3 period_us  4 burst (= limit)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund.
--          8 request id beside a member (unused here: '')  9 options: '' = a window lasts one period,
--          'turns=<us>,<us>' = windows turn at calendar time, and these are the next two turns by the caller's clock. Of them
--          the first that is later than now counts; period_us is then how long a window can last. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us,
--          stamp_us (the window's end, 0 without a window)}; of a refund allowed = something was given back
-- EXPIRES  with the window; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/FixedWindowState.java
--
local given = ARGV[5] and ARGV[5] ~= ''
-- [algorithm]
-- The state: what was counted, the window's end, the end that is stored, and the latest end that a window has now.
local function look(key, now, _, _, period, _, _, _, options, raw)
  local latest = now + period
  if options and options ~= '' then
    local first, second = string.match(options, '^turns=(%d+),(%d+)$')
    if not first then error("LIMITEROPTIONS ARGV[9] must be '' or 'turns=<us>,<us>', not " .. options) end
    local turn = tonumber(first)
    if turn <= now then turn = tonumber(second) end
    -- Where the caller's clock is far from this one, the turn may be past or too far away: whole periods before or after it.
    latest = now + 1 + (turn - now - 1) % period
  end
  if raw == nil then raw = redis.call('GET', key) end
  if not raw then return 0, 0, nil, latest end
  local kind, count, ends
  if #raw >= 17 then kind, count, ends = struct.unpack('<Bdd', raw) end
  -- With records of reservations. The last version had them behind it.
  if kind == 6 then kind, count, ends = 1, (struct.unpack('<d', raw, #raw - 12)), struct.unpack('<d', raw, #raw - 52) end
  if kind ~= 1 then
    error('LIMITERSTATE the value of ' .. key .. ' is no fixed window; delete it or use another prefix')
  end
  if ends > now and (count > 0 or #raw > 17) then return count, ends, ends, latest end
  return 0, 0, nil, latest
end

local function charge(_, n, limit, _, _, count, ends, stored, latest)
  if count + n > limit then return nil end
  -- A clock that stepped back, or a shorter period, cuts the window.
  if count == 0 or ends > latest then ends = latest end
  return count + n, ends, stored, latest
end

local function write(key, now, _, _, _, _, _, count, ends, stored)
  -- Redis forgets by its own clock. A given one may go slower, so then each write renews the time to live.
  local state = struct.pack('<Bdd', 1, count, ends)
  if ends == stored and not given then
    redis.call('SET', key, state, 'KEEPTTL')
  else
    redis.call('SET', key, state, 'PX', math.ceil((ends - now) / 1000))
  end
  return count, ends, ends
end

local function settle(key, now, _, _, _, _, _, count, ends, stored, latest)
  if ends <= latest then return count, ends, stored end
  return write(key, now, 0, 0, 0, 0, '', count, latest, stored)
end

local function back(key, now, n, _, _, _, _, stamp, count, ends, stored, latest)
  if count == 0 or ends ~= stamp then return false, count, ends, stored end
  if count <= n then
    redis.call('DEL', key)
    return true, 0, 0
  end
  return true, write(key, now, 0, 0, 0, 0, '', count - n, math.min(ends, latest), stored)
end

local function answer(_, now, n, limit, _, _, _, count, ends)
  local left = count > 0 and ends - now or 0
  return n > limit and -1 or left, count < limit and limit - count or 0, left, left, ends
end
-- [/algorithm]
local kind = 'fixed'
