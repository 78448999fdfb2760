-- hold_steps: what holds.lua uses, and the short path of most reservations and settlements.
-- [steps]
local call, pack, read, find, sub, floor, ceil, max, min =
  redis.call, struct.pack, struct.unpack, string.find, string.sub, math.floor, math.ceil, math.max, math.min

-- What the options say: those of the algorithm, the most records, and the times of a reservation or the actual permits of a settlement.
local function terms(options, actual)
  local at, word, one, other, most = find(options, 'holds=', 1, true), nil, nil, nil, nil
  most, word, one, other = string.match(options, '^(%d+),?(%l*)=?(%d*),?%l*=?(%d*)$', at and at + 6)
  local ttl, life = word == 'ttl' and tonumber(one), tonumber(other)
  if word == 'settle' then actual = actual or tonumber(one) end
  if not at or not most or word == 'ttl' and not life or word == 'settle' and not actual then
    error('LIMITEROPTIONS ARGV[9] has no such holds: ' .. options)
  end
  return at > 1 and sub(options, 1, at - 2) or '', tonumber(most), ttl, life, actual
end

-- The time to live of a key, and when it expires then. It is renewed seldom. A given clock may stand still, while that of Redis goes
-- on: a minute more.
local function lifetime(given, until_us, time)
  return max(1, ceil((until_us - time) * 9 / 8 / 1000)) + (given and 60000 or 0), until_us + floor((until_us - time) / 8)
end

-- How long until a bucket has so many permits, with those that are held. left: until the last hold ends.
local function told(wanted, burst, now, left, credit, from, parts, rate, pending)
  if wanted <= burst then
    local lacks = wanted * parts - credit
    return lacks <= 0 and 0 or pending and pending.time(wanted * parts) or from - now + ceil(lacks / rate)
  end
  -- Then nothing is held any more, but used.
  local level = pending and pending.level(now + left) or min(burst * parts, credit + max(0, left + now - from) * rate)
  return left + ceil(max(0, wanted * parts - level) / rate)
end

-- Charges what a settlement has cost instead of what was reserved; all of it if that is not open any more. gone: what has run out of a log
-- and is still in it; a to f: the state, nil for one of a log that is not read yet. Returns the permits above what a debt can be, which
-- are forgotten, what a bucket holds, its idle time, and the state.
local function settled(fs, key, now, limit, period, burst, actual, permits, extra, is_open, gone, x, idle, a, b, c, d, e, f)
  local is_fixed, is_bucket = fs[8] == 'fixed', fs[8] == 'token-bucket'
  local more, less, capacity, counted = actual, 0, limit, a
  if is_open then more, less = max(0, actual - permits), max(0, permits - actual) end
  if is_bucket then
    if is_open then
      x = x - permits
      -- What would have refilled while the bucket was full of what was left does not count as taken.
      local cost = min(actual, permits, max(0, burst + floor(a / c) - min(x, burst))) * c
      local spare = max(0, idle - extra)
      spare = spare >= ceil(cost / d) and cost or spare * d
      a, b, f, idle = a - cost + spare, min(b, now + period), nil, idle - ceil(spare / d)
    end
    capacity, counted = burst, burst - floor(a / c) + min(x, burst)
  elseif less == 0 then
    if more > 0 and not a and fs[8] == 'sliding-list' then
      -- Where no debt is too large even if all of the list counts, nobody has to know what has expired.
      c, e = call('LLEN', key), call('LINDEX', key, '-1')
      a, b = c + more <= 2 * limit and c, 0
      e = a and a > 0 and e + 0
    end
    if more > 0 and not a then a, b, c, d, e, f = fs[1](key, now, 0, limit, period, burst, '') end
    counted = more > 0 and a - gone
  elseif is_fixed then
    if extra == x then a, b = max(0, a - less), min(b, d) end
  elseif extra > now - min(period, x) and fs[8] == 'sliding-list' then
    call('LREM', key, less, extra)
  elseif extra > now - min(period, x) then
    fs[5](key, now, less, limit, period, burst, '', extra, a, b, c, d, e, f)
  end
  if more == 0 then return 0, x, idle, a, b, c, d, e, f end
  -- What is charged above the capacity, and above that much of debts, is forgotten.
  local some = min(more, capacity, max(0, 2 * capacity - counted))
  if some == 0 then
  elseif is_bucket then
    a, b, f = a - some * c, min(b, now + period), nil
  elseif is_fixed then
    a, b = a + some, b > 0 and b <= d and b or d
  else
    a, b, c, d, e, f = fs[2](now, some, 9007199254740991, period, burst, a, b, c, d, e, f)
    fs[3](key, now, some, limit, period, burst, '', a, b, c, d, e, f)
  end
  return more - some, x, idle, a, b, c, d, e, f
end

-- What most reservations and settlements are: the records are few, in one value, and of the present clock, window and limit, and none of
-- them is due. Returns nil and the value where that is not so: then held decides, which knows all cases. Parameters as there.
local function ordinary(fs, key, now, n, limit, period, burst, id, stamp, actual, most, ttl, life)
  local kind = fs[8]
  local is_fixed, is_bucket = kind == 'fixed', kind == 'token-bucket'
  local begin, hash, raw = is_fixed and 83 or is_bucket and 123 or 66, nil, nil
  if begin > 66 then
    raw = call('GET', key)
  else
    hash = key .. ':holds1'
    raw = call('HGET', hash, '')
  end
  local size = raw and #raw or 0
  if #id ~= 16 or size < begin + 50 and (size > 0 or stamp or most == 0) then return nil, raw end
  local a, b, c, d, e, f, mark, expires, first, last, at, x, idle, pace, _
  local g, h = limit, period
  if is_bucket then while h > 0 do g, h = h, g % h end end
  if size == 0 then
    mark, expires, first, last, at, x = 2, 0, 0, now + 1, now, is_fixed and now + period or is_bucket and 0 or period
    a, b, c, d, e, idle, pace = 0, x, period / g, limit / g, now, 0, limit / period
    if is_bucket then a, b, pace = burst * c, now, d / c end
  elseif is_fixed then
    _, a, b, mark, expires, first, last, at = read('<BddI5dddd', raw)
    x = b
    if b <= now or b > now + period then return nil, raw end
  elseif is_bucket then
    _, a, b, c, d, e, mark, expires, first, last, at, x, idle, pace = read('<BdddddI5ddddddd', raw)
    a = a + x * c
    if c * g ~= period or d * g ~= limit or x > burst or b > now or now < e and e ~= b + ceil((burst * c - a) / d) then
      return nil, raw
    end
    a, b = now < e and a + (now - b) * d or burst * c, now
    if e < at then e = at end
    if e < now then idle = idle + now - e end
  else
    mark, expires, first, last, at, _, _, _, _, x = read('<I5ddddHHddd', raw)
    if x ~= period then return nil, raw end
  end
  if mark % 256 ~= 2 or at > now or last <= now or first > 0 and first <= now then return nil, raw end

  local used, remaining, next_us, reset, rest, added = nil, 0, 0, 0, nil, nil
  if stamp then
    local i = find(raw, id, begin + 35, true)
    if not i or (i - begin) % 51 ~= 35 then return nil, raw end
    i = i - 35
    local ends, status, permits, extra = read('<dI3dd', raw, i)
    local bit = 256 * 2 ^ ((i - begin) / 51)
    if ends ~= stamp or ends <= now or status ~= 0 or mark % (2 * bit) >= bit or is_fixed and extra ~= x then return nil, raw end
    mark = mark + bit
    if not is_fixed then
      used, x, idle, a, b = settled(fs, key, now, limit, period, burst, actual, permits, extra, true, 0, x, idle, a, b, c, d)
      used = 1 + 8 * used
    elseif actual <= permits then
      a, used = a > permits - actual and a - permits + actual or 0, 1
    else
      local some = min(actual - permits, limit, max(0, 2 * limit - a))
      a, used = a + some, 1 + 8 * (actual - permits - some)
    end
    -- None that gives back ends before that.
    if ends == first then first = i + 51 < size and read('<d', raw, i + 51) or 0 end
  else
    local extra = x
    used = now + ttl
    if size >= begin + 51 * most - 1 or size >= begin + 1631 or size > 0 and read('<d', raw, size - 50) >= used then return nil, raw end
    if is_fixed then
      a = a + n
      if a > limit then return nil, raw end
      remaining, next_us, reset = limit - a, b - now, b - now
    elseif is_bucket then
      if x == 0 then idle = 0 end
      x, extra = x + n, idle
      remaining = floor(a / c) - x
      if x > burst or remaining < 0 then return nil, raw end
      next_us = told(min(burst, remaining + 1) + x, burst, now, ttl, a, b, c, d)
      reset = told(burst + x, burst, now, ttl, a, b, c, d)
    else
      a, b, c, d, e, f = fs[1](key, now, n, limit, period, burst, '')
      a, b, c, d, e, f = fs[2](now, n, limit, period, burst, a, b, c, d, e, f)
      if not a then return nil, raw end
      a, b, c, d, e, f = fs[3](key, now, n, limit, period, burst, '', a, b, c, d, e, f)
      _, remaining, next_us, reset = fs[6](key, now, n, limit, period, burst, true, a, b, c, d, e, f)
      extra = now
    end
    if first == 0 then first = used end
    if last < used + life then last = used + life end
    rest = size > 0 and sub(raw, begin - (is_bucket and 20 or 28)) or pack(is_bucket and '<HHdd' or '<HHddd', 0, 0, 0, 0, x)
    added = pack('<dI3ddd', used, 0, n, extra, used + life)
  end

  if is_bucket then e = b + ceil((burst * c - a) / d) else e = is_fixed and b or first > 0 and now + period or 0 end
  if e < last then e = last end
  local left, given = nil, fs[9]
  if given or e > expires then left, expires = lifetime(given, e, now) end
  if is_fixed then
    a = pack('<BddI5dddd', 1, a, b, mark, expires, first, last, now)
  elseif is_bucket then
    a = pack('<BdddddI5ddddddd', 2, a - x * c, b, c, d, b + ceil((burst * c - a) / d), mark, expires, first, last, now, x, idle, pace)
  else
    a = pack('<I5dddd', mark, expires, first, last, now)
    call('HSET', hash, '', added and a .. rest .. added .. id or a .. sub(raw, 38))
    if left then call('PEXPIRE', hash, left) end
    return true, remaining, 0, next_us, reset, used
  end
  if rest then a = a .. rest .. added .. id end
  if left and rest then
    call('SET', key, a, 'PX', left)
  else
    -- An error: a user who may not, as documented for earlier versions.
    if redis.pcall('SETRANGE', key, '0', a) ~= (rest and #a or size) then call('SET', key, a .. sub(raw, #a + 1), 'KEEPTTL') end
    if left then call('PEXPIRE', key, left) end
  end
  return true, remaining, 0, next_us, reset, used
end
-- [/steps]
