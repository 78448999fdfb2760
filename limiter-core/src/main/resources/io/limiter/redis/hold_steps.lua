-- hold_steps: what holds.lua uses, and the short path of most reservations and settlements.
-- [steps]
local call, try, pack, read, find, sub, floor, ceil, max, min =
  redis.call, redis.pcall, struct.pack, struct.unpack, string.find, string.sub, math.floor, math.ceil, math.max, math.min

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
-- are forgotten, what a bucket holds, its idle time, and the state; nil for that of a log that is still not read.
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
    if more > 0 and not a and fs[8] == 'sliding-list' and more <= min(limit, 100) then
      -- Where no debt is too large even if all of the list counts, nobody has to know what has expired.
      local text = string.format('%.0f', now)
      local stamps, newest = {text}, call('LINDEX', key, '-1')
      for i = 2, more do stamps[i] = text end
      if not newest or newest + 0 <= now then
        if call('RPUSH', key, unpack(stamps)) <= 2 * limit then
          call('PEXPIRE', key, ceil(period / 1000))
          return 0, x, idle
        end
        call('LTRIM', key, 0, -1 - more)
      end
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

-- Texts of whole numbers, which take time to make.
local texts = {}

-- What most reservations and settlements are: the records are few, in one value, and of the present clock, window and limit, and none of
-- them is due. Of the value it reads and writes the end. Returns nil where that is not so, and false if there is no value: then held
-- decides, which knows all cases. one: as in batch.lua, the other parameters as there. Returns true, the last number of the reply and, of a reservation, three before it.
local function ordinary(one, key, now, id, stamp, actual, most, ttl, life)
  local fs, n, limit, period, burst = one[1], one[2], one[3], one[4], one[5]
  local kind = fs[8]
  local is_fixed, is_bucket = kind == 'fixed', kind == 'token-bucket'
  -- The numbers behind the records; of a reservation the last record, too, and of a settlement the last two. An error: a user who
  -- may not, as documented for earlier versions, or pages of a log.
  local where, tail, raw = key, 47, nil
  if is_fixed then
    tail, raw = 55, try('GETRANGE', key, stamp and '-157' or '-106', '-1')
  elseif is_bucket then
    tail, raw = 95, try('GETRANGE', key, stamp and '-197' or '-146', '-1')
  else
    where = key .. ':holds1'
    raw = try('GETRANGE', where, stamp and '-149' or '-98', '-1')
  end
  local size = #raw
  if size == 0 and raw == '' then
    if stamp or most == 0 or #id ~= 16 then return nil, false end
  elseif size < tail + 51 or #id ~= 16 then
    return nil
  end
  local a, b, c, d, e, f, count, mark, expires, first, last, at, x, idle
  local g, h = limit, period
  if is_bucket then while h > 0 do g, h = h, g % h end end
  if size == 0 then
    count, mark, expires, first, last, at, x = 0, 2, 0, 0, now + 1, now, is_bucket and 0 or period
    a, b, c, d, e, idle = 0, now + period, period / g, limit / g, now, 0
    if is_bucket then a, b = burst * c, now end
  elseif is_fixed then
    count, b, expires, last, first, at, a, mark = read('<Hdddddd>I5', raw, size - 54)
    if b <= now or b > now + period then return nil end
  elseif is_bucket then
    count, c, d, expires, last, first, at, b, e, x, idle, a, mark = read('<Hddddddddddd>I5', raw, size - 94)
    a = a + x * c
    if c * g ~= period or d * g ~= limit or x > burst or b > now or now < e and e ~= b + ceil((burst * c - a) / d) then
      return nil
    end
    a, b = now < e and a + (now - b) * d or burst * c, now
    if e < at then e = at end
    if e < now then idle = idle + now - e end
  else
    count, expires, last, x, first, at, mark = read('<Hddddd>I5', raw, size - 46)
    if x ~= period then return nil end
  end
  if mark % 256 ~= 2 or at > now or last <= now or first > 0 and first <= now then return nil end

  local used, remaining, next_us, reset, extra, _ = nil, 0, 0, 0, nil, nil
  if stamp then
    local i = find(raw, id, 1, true)
    if not i and size == tail + 102 then
      raw = call('GETRANGE', where, '0', '-1')
      size, i = #raw, find(raw, id, 1, true)
    end
    if not i then return nil end
    -- Which one it is from the last one on.
    local j = (size - tail - 15 - i) / 51
    if j % 1 ~= 0 or j < 0 then return nil end
    i = i - 35
    local ends, status, permits
    ends, status, permits, extra = read('<dI3dd', raw, i)
    local bit = 256 * 2 ^ j
    if ends ~= stamp or ends <= now or status ~= 0 or mark % (2 * bit) >= bit or is_fixed and extra ~= b then return nil end
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
    if ends == first then first = j > 0 and read('<d', raw, i + 51) or 0 end
  else
    used = now + ttl
    if count >= most or count >= 32 or size > 0 and read('<d', raw, size - tail - 50) >= used then return nil end
    if is_fixed then
      a, extra = a + n, b
      if a > limit then return nil end
      remaining, next_us, reset = limit - a, b - now, b - now
    elseif is_bucket then
      if x == 0 then idle = 0 end
      x, extra = x + n, idle
      remaining = floor(a / c) - x
      if x > burst or remaining < 0 then return nil end
      next_us = told(min(burst, remaining + 1) + x, burst, now, ttl, a, b, c, d)
      reset = told(burst + x, burst, now, ttl, a, b, c, d)
    else
      a, b, c, d, e, f = fs[1](key, now, n, limit, period, burst, '')
      a, b, c, d, e, f = fs[2](now, n, limit, period, burst, a, b, c, d, e, f)
      if not a then return nil end
      a, b, c, d, e, f = fs[3](key, now, n, limit, period, burst, '', a, b, c, d, e, f)
      _, remaining, next_us, reset = fs[6](key, now, n, limit, period, burst, true, a, b, c, d, e, f)
      extra = now
    end
    if first == 0 then first = used end
    if last < used + life then last = used + life end
    mark = 2 * mark - 2
  end

  if is_bucket then e = b + ceil((burst * c - a) / d) end
  local ends = is_fixed and b or is_bucket and e or first > 0 and now + period or 0
  if ends < last then ends = last end
  local left, given, from = nil, fs[9], 51 * count + 19
  local is_short = stamp and ends <= expires
  if given or ends > expires then left, expires = lifetime(given, ends, now) end
  -- What a settlement changes is at the end.
  if is_fixed and is_short then
    from, b = from + 26, pack('<ddd>I5', first, now, a, mark)
  elseif is_fixed and stamp then
    b = pack('<Hdddddd>I5', count, b, expires, last, first, now, a, mark)
  elseif is_fixed then
    b = pack('<dxxxdddc16Hdddddd>I5',
      used, n, extra, used + life, id, count + 1, b, expires, last, first, now, a, mark)
  elseif is_bucket and is_short then
    from, b = from + 34, pack('<ddddddd>I5', first, now, b, e, x, idle, a - x * c, mark)
  elseif is_bucket and stamp then
    b = pack('<Hddddddddddd>I5', count, c, d, expires, last, first, now, b, e, x, idle, a - x * c, mark)
  elseif is_bucket then
    b = pack('<dxxxdddc16Hddddddddddd>I5',
      used, n, extra, used + life, id, count + 1, c, d, expires, last, first, now, b, e, x, idle, a - x * c, mark)
  elseif is_short then
    from, b = from + 26, pack('<dd>I5', first, now, mark)
  elseif stamp then
    b = pack('<Hddddd>I5', count, expires, last, x, first, now, mark)
  else
    b = pack('<dxxxdddc16Hddddd>I5', used, n, extra, used + life, id, count + 1, expires, last, x, first, now, mark)
  end
  if size == 0 then
    call('SET', where, pack('<Bxxxxxxxxxxd', is_fixed and 6 or is_bucket and 7 or 8, is_bucket and d / c or 0) .. b, 'PX', left)
  else
    local place = texts[from]
    if not place then
      place = string.format('%d', from)
      texts[from] = place
    end
    if try('SETRANGE', where, place, b) ~= from + #b then
      call('SET', where, sub(call('GET', where), 1, from) .. b, 'KEEPTTL')
    end
    if left then call('PEXPIRE', where, left) end
  end
  if stamp then return true, used end
  return true, used, remaining, next_us, reset
end
-- [/steps]
