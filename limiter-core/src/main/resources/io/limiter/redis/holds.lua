-- holds: reservations beside the state of an algorithm. A call of a policy that has them says so in ARGV[9]; all others do not
-- come here. A reservation is a take and a record of it; until it is settled or its time is over the record says what comes back then.
--
-- KEYS     the state, and in its slot <state's key>:holds1: the records are in one of them, and many in the second (hold_records.lua)
-- ARGV     9 after the options of the algorithm 'holds=<most records>', and for a reservation ',ttl=<us>,life=<us>' (how long the
--          record is kept after its end); 8 is its id then, of 16 characters. For a settlement ARGV[7] is 'back:<end>', 8 the id,
--          and 9 ends with ',settle=<actual>'
-- RETURNS  the six numbers of the algorithm; of a reservation stamp_us is its end; -6 where it is denied because there are too
--          many. Of a settlement allowed is 1, and stamp_us is 8 * the permits that were forgotten + what became of it:
--          0 no record, 1 settled, 2 settled after its end or a reset, 3 settled before; the others are 0
-- EXPIRES  with the state and the last record
-- TWIN     io/limiter/inprocess/HeldState.java
-- [holds]
-- Decides a call of a policy with holds. It is one function because each that is made takes time. Returns nil and the state where there
-- are no records: then the functions of the algorithm decide. fs: these functions, this one, the kind, whether a time is given, in the batch
-- script the two above, and the options that were read last. step: 'take', 'look' as ARGV[7]; 'see' tells whether it is allowed, with the numbers of a call
-- that takes nothing; 'settle' is a take that others deny; 'back'. actual: of a settlement; it may be in the options. raw: what is
-- stored, if it was read already.
local function held(fs, step, key, now, n, limit, period, burst, id, stamp, request, options, actual, raw)
  local look, charge, write, back, answer, kind, given = fs[1], fs[2], fs[3], fs[5], fs[6], fs[8], fs[9]
  local is_fixed, is_bucket, is_list = kind == 'fixed', kind == 'token-bucket', kind == 'sliding-list'
  local is_log = not is_fixed and not is_bucket
  local size = is_fixed and 17 or is_bucket and 41 or 0

  local base, most, ttl, life = fs[13], fs[14], fs[15], fs[16]
  if options ~= fs[12] then
    base, most, ttl, life, actual = terms(options, actual)
    fs[12], fs[13], fs[14], fs[15], fs[16] = options, base, most, ttl, life
  end
  if ttl and step == 'take' and #request ~= 16 then error('LIMITEROPTIONS ARGV[8] is no id of 16 characters: ' .. request) end

  -- The records. Their time is that of the clock, but never steps back.
  local hash = key .. ':holds1'
  if raw == nil and is_log then raw = redis.pcall('GET', hash) elseif raw == nil then raw = call('GET', key) end
  if type(raw) == 'table' then raw = call('HGET', hash, '') end
  local has, page, time, has_stepped, h = false, '', now, false, nil
  local mark, count, resets, first, last, expires, at, ahead, x, idle, pace = 2, 0, 0, 0, 0, 0, now, 0, 0, 0, 0
  -- Any other is not ours: look says so.
  if raw and #raw > size and string.byte(raw) == (is_fixed and 6 or is_bucket and 7 or 8) then
    local stop, a, b, c, d, e, _ = #raw - (is_fixed and 55 or is_bucket and 95 or 47), nil, nil, nil, nil, nil, nil
    local i = stop - 61
    _, resets, ahead, x = read('<BHdd', raw)
    page = sub(raw, 20, stop)
    if is_fixed then
      count, b, expires, last, first, at, a, mark = read('<Hdddddd>I5', raw, stop + 1)
      x, raw = x + b, pack('<Bdd', 1, a, b)
    elseif is_bucket then
      pace = x
      count, c, d, expires, last, first, at, b, e, x, idle, a, mark = read('<Hddddddddddd>I5', raw, stop + 1)
      raw = pack('<Bddddd', 2, a, b, c, d, e)
    else
      count, expires, last, x, first, at, mark = read('<Hddddd>I5', raw, stop + 1)
    end
    if mark % 256 ~= 3 then count = #page / 51 end
    mark, a = mark % 256, floor(mark / 256)
    while a > 0 do
      if a % 2 == 1 then page = sub(page, 1, i - 1) .. '\1' .. sub(page, i + 1) end
      a, i = floor(a / 2), i - 51
    end
    time = now + ahead
    if time < at then time, ahead, has_stepped = at, at - now, true end
    has = last > time or first > 0
    if not has then
      -- The last is over.
      mark, count, resets, first, expires, at, ahead, x, page, time = 2, 0, 0, 0, 0, now, 0, 0, '', now
    end
    if not is_log then raw = sub(raw, 1, size) .. (has and ' ' or '') end
  end
  if not has and actual then return true, 0, 0, 0, 0, 0 end
  if not has and not ttl then return nil, raw, base end
  local is_due, ends = first > 0 and first <= time, ttl and time + ttl
  if mark == 3 or is_due or has_stepped
      or ends and (count >= most or #page >= 1632 or #page > 0 and read('<d', page, #page - 50) >= ends) then
    h = hold_records({hash = hash, is_fixed = is_fixed, is_log = is_log, is_list = is_list,
      has_stepped = has_stepped, dir = mark == 3 and page, page = mark == 3 and '' or page, turned = 0, count = count, resets = resets,
      first = first, expires = expires, time = time, x = x, gone = 0}, look, back, answer)
  end

  -- A settlement: what becomes of it, and where its record is.
  local used, i, permits, extra, kept, is_open
  if actual then
    used = 0
    if h then page = h.turn_to(stamp) end
    local found, status, before
    i = #request == 16 and find(page, request, 1, true)
    while i do
      if i % 51 == 36 then found, status, before, permits, extra, kept = read('<dBHddd', page, i - 35) end
      if found == stamp then break end
      i = find(page, request, i + 1, true)
    end
    if i then
      i = i - 35
      is_open = stamp > time and before == resets
      used = kept <= time and 0 or status == 1 and 3 or is_open and 1 or 2
    end
    if used == 0 or used == 3 then return true, 0, 0, 0, 0, used end
  end

  local before_x = x
  -- The state of the algorithm, without what has run out. Few settlements of a log need it.
  local writes, changed, gone, window, a, b, c, d, e, f = step ~= 'look' and step ~= 'see', has_stepped, 0, 0
  if is_log and step ~= 'reset' then
    if is_due then gone = h.run_out(now, period) end
    local shortest = last > time and x > 0 and x < period and x or period
    if shortest ~= x then x, changed = shortest, has end
  end
  if not (is_log and actual) or is_due or has_stepped then
    a, b, c, d, e, f = look(key, now, n, limit, period, burst, id, '', base, raw, x)
  end
  if is_bucket then
    -- Idle time counts at one rate; a change takes more from it than any record lives.
    if pace ~= d / c then
      idle, pace, changed = max(-8000000000000000, idle - 200000000000), d / c, has
    elseif idle > -8000000000000000 then
      idle = idle + max(0, now - max(at - ahead, e))
    end
    if is_due then
      gone = h.run_out(now, period)
      x = x - gone
    end
  elseif is_fixed then
    if not c then x = 0 end
    if is_due and a > 0 and x > 0 then a = a - min(a, h.run_out(now, period)) end
    -- A window that was given back as a whole lasts as long as there are records.
    if a == 0 and last <= time then b, c = 0, nil end
    window = b
  end
  if writes and (is_due or has_stepped) then
    a, b, c, d, e, f = h.sweep(key, now, limit, period, burst, a, b, c, d, e, f)
    first, gone, page, changed = h.first, h.gone, h.page, changed or is_due
  end

  -- A plan that has become smaller: no more is held of it than all.
  local held_now, touched, before_i, added, after_i = is_bucket and min(x, burst) or 0, false, #page, '', ''
  local allowed, is_put, wait, latest, room = n == 0, false, 0, is_fixed and d or now + period, is_log and limit + gone or limit
  if actual then
    -- Where its record is then.
    if h then
      page = h.turn_to(stamp)
      extra = read('<d', page, i + 19)
    end
    allowed, is_put = true, true
    local forgotten
    forgotten, x, idle, a, b, c, d, e, f = settled(fs, key, now, limit, period, burst, actual, permits, extra, is_open, gone, x, idle, a, b, c, d, e, f)
    used, touched = used + 8 * forgotten, is_bucket and (is_open or actual > forgotten)
    -- One that is settled late is kept anew.
    before_i, added, after_i = i + 7, '\1', i + 9
    if time > stamp then
      kept = time + kept - stamp
      last, added, after_i = max(last, kept), '\1' .. sub(page, i + 9, i + 26) .. pack('<d', kept), i + 35
    end
    after_i = sub(page, after_i)
    if h then h.page, h.dirty = sub(page, 1, before_i) .. added .. after_i, true end
    if stamp == first then
      first = h and h.dir and h.turned < #h.dir / 32 and read('<d', h.dir, 32 * h.turned + 1) or 0
      for j = i + 51, #page, 51 do
        local later, settled, earlier = read('<dBH', page, j)
        if settled == 0 and earlier == resets then
          first = later
          break
        end
      end
    end
  elseif step == 'back' then
    local elapsed = max(0, now - stamp)
    is_put = changed
    if is_log then
      allowed, a, b, c, d, e, f = back(key, now, n, limit, period, burst, id, stamp, a, b, c, d, e, f, '', base)
    elseif is_fixed then
      allowed = a > 0 and b == stamp
      if allowed then a, b, is_put = max(0, a - n), min(b, d), true end
    else
      -- As without holds; but while some are, it is idle once it is full again.
      allowed = not (n > burst or a == burst * c or f and f.other or elapsed >= ceil(n * c / d))
      if allowed then
        a, touched, is_put = min(burst * c, a + n * c - elapsed * d), true, true
        if x > 0 then b, e, f = min(b, latest), nil, nil end
      end
    end
  elseif step == 'reset' then
    -- Ends all holds: nothing comes back any more.
    resets, first, x, a, b, c, d, is_put = (resets + 1) % 65536, 0, is_log and x or 0, 0, is_bucket and now or 0, 1, 1, true
    window, burst, allowed, touched = b, 0, not is_log, true
    if h then h.forget(resets, x) end
  elseif n > 0 then
    local g, m, o, p, q, r = charge(now, n + held_now, room, period, burst, a, b, c, d, e, f, base)
    -- There is room once a record may be forgotten.
    wait = ends and count >= most and h.first_kept() - time or 0
    allowed = g ~= nil and wait <= 0
    if not allowed and g then used = -6 end
    if allowed and (step == 'take' or step == 'look') then
      if is_fixed and a == 0 and b > 0 and b <= d then m = b end
      a, b, c, d, e, f, touched = is_bucket and g + held_now * c or g, m, o, p, q, r, true
    end
  end

  if allowed and step == 'take' and n > 0 then
    if is_log then a, b, c, d, e, f = write(key, now, n, limit, period, burst, id, a, b, c, d, e, f, '', base) end
    is_put = changed or not is_log
    if ends then
      if count >= most or h and count % 32 == 0 then
        h.purge()
        count = h.count
      end
      extra = now
      if is_bucket then
        if x == 0 then idle, pace = 0, d / c end
        a, x, held_now, extra = a + n * c, x + n, held_now + n, idle
      elseif is_fixed then
        if x == 0 or b ~= window and not has_stepped then
          -- Nothing of another window comes back.
          first, x = 0, b + ahead
          if h then h.forget(resets, x) end
        end
        window, extra = b, x
      end
      if h then
        ends = h.add(ends, life, pack('<BHdd', 0, resets, n, extra), request)
      else
        added, after_i = pack('<dBHddd', ends, 0, resets, n, extra, ends + life), request
      end
      if first == 0 or ends < first then first = ends end
      count, last, used, is_put = count + 1, max(last, ends + life), ends, true
    end
  elseif step == 'settle' or step == 'take' and n > 0 then
    if is_log or not has then
      a, b, c, d, e, f = fs[4](key, now, n, limit, period, burst, id, a, b, c, d, e, f, '', base)
      is_put = changed and has
    elseif changed or f or b > latest then
      is_put, touched = true, is_fixed or f ~= nil or b > latest
      if touched then b, f = min(b, latest), nil end
    end
  end

  if is_put then
    local until_us, rest, credit, since, parts, rate, full_at, _ = last, '', 0, 0, 0, 0, 0, 0
    if is_fixed then
      if b ~= window and not has_stepped then x, first = 0, 0 end
      until_us = max(until_us, b + ahead)
    elseif is_bucket then
      credit, since, parts, rate = a, b, c, d
      if step == 'back' and not actual and allowed and e then
        full_at = e
      elseif touched or not raw then
        full_at = b + ceil((burst * c - a) / d)
      else
        -- Another limit is not in force before a call has written under it.
        _, credit, since, parts, rate, full_at = read('<Bddddd', raw)
        credit = credit + min(before_x, floor(4503599627370496 / parts)) * parts
      end
      -- A state that is stored has less credit because of what is held.
      credit = credit - min(x, floor(4503599627370496 / parts)) * parts
      until_us = max(until_us, full_at + ahead)
    elseif first > 0 then
      -- What has run out may be in the log as long as that.
      until_us = max(until_us, time + period)
    end
    if h then
      rest, expires = h.close()
      added, after_i = '', ''
    else
      rest = sub(page, 1, before_i)
    end
    rest = rest .. added .. after_i
    if not (h and h.dir) then count = #rest / 51 end
    local left
    if given or until_us > expires then left, expires = lifetime(given, until_us, time) end
    mark = h and h.dir and 3
      or ahead == 0 and resets == 0 and idle > -8000000000000000 and (not is_fixed or x == b) and 2 or 4
    if is_fixed then
      rest = pack('<BHdd', 6, resets, ahead, x - b) .. rest .. pack('<Hdddddd>I5', count, b, expires, last, first, time, a, mark)
    elseif is_bucket then
      rest = pack('<BHdd', 7, resets, ahead, pace) .. rest .. pack('<Hddddddddddd>I5',
        count, parts, rate, expires, last, first, time, since, full_at, x, idle, credit, mark)
    else
      rest = pack('<BHdd', 8, resets, ahead, 0) .. rest .. pack('<Hddddd>I5', count, expires, last, x, first, time, mark)
    end
    if is_log and mark == 3 then
      call('HSET', hash, '', rest)
    elseif left then
      call('SET', is_log and hash or key, rest, 'PX', left)
    else
      call('SET', is_log and hash or key, rest, 'KEEPTTL')
    end
    if left and mark == 3 then call('PEXPIRE', hash, left) end
  end
  if actual or step == 'reset' then return allowed, 0, 0, 0, 0, used end

  local retry, remaining, next_us, reset, stamp_us
  if is_bucket then
    local open
    if x > 0 and h then
      open = h.last_open()
    elseif x > 0 and added ~= '' then
      open = ends
    elseif x > 0 then
      for i = #page - 50, 1, -51 do
        local later, settled, earlier = read('<dBH', page, i)
        if settled == 0 and earlier == resets then
          open = later
          break
        end
      end
    end
    local left = max(0, (open or time) - time)
    remaining, stamp_us = max(0, floor(a / c) - held_now), b
    retry = n > burst and -1 or not allowed and told(n + held_now, burst, now, left, a, b, c, d, f)
    next_us = told(min(burst, remaining + 1) + held_now, burst, now, left, a, b, c, d, f)
    reset = told(burst + held_now, burst, now, left, a, b, c, d, f)
  else
    retry, remaining, next_us, reset, stamp_us = answer(key, now, n, limit, period, burst, allowed, a, b, c, d, e, f)
    if gone > 0 and is_log then
      remaining = max(0, min(limit, limit - a + gone))
      retry, next_us, reset = h.times_of_log(key, now, n, limit, period, burst, retry, reset, a, b, c, d, e, f)
    elseif is_fixed and a == 0 then
      stamp_us = 0
    end
  end
  if wait > 0 and used then retry = wait elseif wait > 0 and retry ~= -1 then retry = max(retry or 0, wait) end
  return allowed, remaining, retry, next_us, reset, used or stamp_us
end
-- [/holds]
