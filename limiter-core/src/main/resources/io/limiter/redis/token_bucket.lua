-- token_bucket: permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit.
--
-- KEYS[1]  the state: a string of 41 bytes, a byte 2 and five little-endian doubles: so much credit in parts of a permit, at
--          a time in us, the parts of a permit, the rate, and when it is full again in us; no key is a full bucket. With
--          reservations as in hold_records.lua; the credit is less by what they hold
-- ARGV     1 permits  2 limit (refilled per period)  3 period_us  4 burst (capacity)  5 now_us ('' = server TIME)
--          6 request id (unused here: '')  7 '' = take, 'look' = answer as take would, write nothing (so where
--          it is denied, the times are those of the state as it is stored), 'back:<stamp_us>' = refund.
--          8 request id beside a member and 9 options: not used by it. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, -1 never), next_us, reset_us, stamp_us (the time from
--          which on it refills)}; of a refund allowed = something was given back
-- EXPIRES  when full again; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/TokenBucketState.java
--
-- limit per period_us, reduced by their greatest common divisor, is rate / parts: each microsecond adds rate, a permit
-- is parts, a full bucket is burst * parts. The caller sees to it that a full bucket is at most 2^52.
--
-- [algorithm]
-- Another limit was in force until now, or a lower burst, and is pending until a call writes the present one. For that time
-- counts the lesser of what both rates brought.
local function changed(now, parts, rate, burst, credit, from, stored_parts, stored_rate, full_at)
  -- floor(a * b / c) and the rest, for a < c: exact, though the product may be above 2^53.
  local function scaled(a, b, c)
    local quotient, rest, bit = 0, 0, 4503599627370496
    while bit >= 1 do
      quotient, rest = quotient * 2, rest * 2
      if rest >= c then quotient, rest = quotient + 1, rest - c end
      if b >= bit then
        b, rest = b - bit, rest + a
        if rest >= c then quotient, rest = quotient + 1, rest - c end
      end
      bit = bit / 2
    end
    return quotient, rest
  end

  -- Credit in stored parts as credit in parts of the present limit, rounded down; a full bucket at most, and no larger debt.
  local function converted(stored)
    local whole = math.floor(stored / stored_parts)
    if whole >= burst then return burst * parts end
    if whole < -burst then return -burst * parts end
    return whole * parts + (scaled(stored - whole * stored_parts, parts, stored_parts))
  end

  local full, other = burst * parts, stored_parts ~= parts or stored_rate ~= rate
  local base = other and converted(credit) or math.max(-burst * parts, credit)
  local filled = math.ceil((full - base) / rate)
  local function level_at(time)
    local elapsed = math.max(0, time - from)
    local most = other and time < full_at and converted(credit + elapsed * stored_rate) or full
    -- More credit than a lowered burst holds is a full bucket.
    return elapsed < filled and time < full_at and math.min(most, base + elapsed * rate) or most
  end
  local level, pending = level_at(now), nil
  -- The state would be full, and expire, before a raised burst is.
  if other or full_at < from + filled then
    pending = {other = other, level = level_at}
    -- How long until both rates have brought so much credit, or the state expires.
    function pending.time(wanted)
      local whole = math.floor(wanted / parts)
      local part, rest = scaled(wanted - whole * parts, stored_parts, parts)
      local stored = whole * stored_parts + part + (rest > 0 and 1 or 0)
      local wait = math.max(math.ceil((wanted - base) / rate), math.ceil((stored - credit) / stored_rate))
      return math.min(from + wait, full_at) - now
    end
  end
  return level, level < full and math.max(from, now) or now, parts, rate, full_at, pending
end

-- The state: credit, from when on it refills, parts, rate; if stored when it is full, and what is pending.
local function look(key, now, _, limit, period, burst, _, _, _, raw, held)
  local a, b = limit, period
  while b > 0 do a, b = b, a % b end
  local parts, rate = period / a, limit / a
  local full = burst * parts
  if raw == nil then raw = redis.call('GET', key) end
  if not raw then return full, now, parts, rate end
  local kind, credit, from, stored_parts, stored_rate, full_at
  if #raw >= 41 then kind, credit, from, stored_parts, stored_rate, full_at = struct.unpack('<Bddddd', raw) end
  -- With records of reservations. The last version had them behind it.
  if kind == 7 then
    stored_parts, stored_rate = struct.unpack('<dd', raw, #raw - 92)
    from, full_at = struct.unpack('<dd', raw, #raw - 44)
    kind, credit = 2, struct.unpack('<d', raw, #raw - 12)
  end
  if kind ~= 2 then
    error('LIMITERSTATE the value of ' .. key .. ' is no token bucket; delete it or use another prefix')
  end
  -- What is reserved is taken only in the state that is stored.
  if held then credit = credit + math.min(held, math.floor(4503599627370496 / stored_parts)) * stored_parts end
  if now >= full_at then return full, now, parts, rate, full_at end
  if stored_parts ~= parts or stored_rate ~= rate or full_at ~= from + math.ceil((full - credit) / rate) then
    return changed(now, parts, rate, burst, credit, from, stored_parts, stored_rate, full_at)
  end
  if now <= from then return credit, from, parts, rate, full_at end
  -- Below a full bucket, as it is not full yet.
  return credit + (now - from) * rate, now, parts, rate, full_at
end

-- How long until there is so much credit.
local function time(wanted, now, credit, from, rate, pending)
  if wanted <= credit then return 0 end
  return pending and pending.time(wanted) or from - now + math.ceil((wanted - credit) / rate)
end

-- From now on the present limit applies, and a clock that stepped back costs a period at most.
local function charge(now, n, _, period, burst, credit, from, parts, rate)
  if n > burst or credit < n * parts then return nil end
  return credit - n * parts, from > now + period and now + period or from, parts, rate
end

local function write(key, now, _, _, _, burst, _, credit, from, parts, rate)
  local full_at = from + math.ceil((burst * parts - credit) / rate)
  redis.call('SET', key, struct.pack('<Bddddd', 2, credit, from, parts, rate, full_at),
    'PX', math.ceil((full_at - now) / 1000))
  return credit, from, parts, rate, full_at
end

local function settle(key, now, n, limit, period, burst, id, credit, from, parts, rate, full_at, pending)
  if not pending and from <= now + period then return credit, from, parts, rate, full_at end
  from = math.min(from, now + period)
  if credit < burst * parts then return write(key, now, n, limit, period, burst, id, credit, from, parts, rate) end
  redis.call('DEL', key)
  return credit, from, parts, rate
end

local function back(key, now, n, _, _, burst, _, stamp, credit, from, parts, rate, full_at, pending)
  -- What has refilled since the call was given back already. Under another limit than that of the call nobody knows.
  local taken, elapsed, full = n * parts, math.max(0, now - stamp), burst * parts
  if n > burst or credit == full or pending and pending.other or elapsed >= math.ceil(taken / rate) then
    return false, credit, from, parts, rate, full_at, pending
  end
  credit = math.min(full, credit + taken - elapsed * rate)
  -- The burst may have been raised since: the state lives on as long as it would have.
  redis.call('SET', key, struct.pack('<Bddddd', 2, credit, from, parts, rate, full_at), 'KEEPTTL')
  return true, credit, from, parts, rate, full_at, pending
end

local function answer(_, now, n, _, _, burst, allowed, credit, from, parts, rate, _, pending)
  local whole, full = math.floor(credit / parts), burst * parts
  -- Settlements of reservations may have left a debt.
  if whole < 0 then whole = 0 end
  local one, reset = (whole + 1) * parts, time(full, now, credit, from, rate, pending)
  return n > burst and -1 or not allowed and time(n * parts, now, credit, from, rate, pending), whole,
    one < full and time(one, now, credit, from, rate, pending) or reset, reset, from
end
-- [/algorithm]
local kind = 'token-bucket'
