-- holds: reservations beside the state of an algorithm. A call of a policy that has them says so in ARGV[9]; all others do not
-- come here. A reservation is a take and a record of it; until it is settled or its time is over the record says what comes back then.
--
-- KEYS     beside the state, in its slot: <state's key>:holds1, the records, as hold_records.lua has them
-- ARGV     9 after the options of the algorithm 'holds=<most records>', and for a reservation ',ttl=<us>,life=<us>' (how long the
--          record is kept after its end); 8 is its id then. For a settlement ARGV[7] is 'back:<end>', 8 the id, and 9 ends with
--          ',settle=<actual>,end=<end>'
-- RETURNS  the six numbers of the algorithm; of a reservation stamp_us is its end; -6 where it is denied because there are too
--          many. Of a settlement allowed is 1, and stamp_us is 8 * the permits that were forgotten + what became of it:
--          0 no record, 1 settled, 2 settled after its end or a reset, 3 settled before
-- EXPIRES  with the last record
-- TWIN     io/limiter/inprocess/HeldState.java
-- [holds]
local function held(kind, given, look, charge, write, settle, back, answer, known)
  local is_fixed, is_bucket = kind == 'fixed', kind == 'token-bucket'
  local is_log = not is_fixed and not is_bucket
  local of, far = nil, nil

  -- What only some calls need: functions that are not made take no time.
  local function records()
    of = of or hold_records(is_fixed, is_log)
    return of
  end

  local rare

  local function is_run_out(h, now) return h.first > 0 and h.first <= now end

  -- Keeps a record until that time.
  local function keep(h, time, now)
    if h.purge == 0 or time < h.purge then h.purge = time end
    h.last, h.changed, h.dirty = math.max(h.last, time), true, true
    if time > h.expires then h.expires, h.renews = time + math.floor((time - now) / 8), true end
  end

  local function save(h, now)
    if not h.changed then return end
    if h.dir or #h.page > 2144 or h.purge + 1000000 <= now then records().save(h, now) end
    h.changed, h.dirty = false, false
    if h.count == 0 then
      redis.call('DEL', h.name)
      return
    end
    redis.call('HSET', h.name, '', struct.pack('<HHddddddddd', h.count, h.resets, h.first, h.purge, h.last, h.expires, h.swept, h.x,
      h.idle, math.max(h.at, now), h.zero) .. (h.dir and 'd' .. h.dir or 'p' .. h.page))
    if h.renews or given then redis.call('PEXPIRE', h.name, math.max(1, math.ceil((h.expires - now) / 1000))) end
  end

  -- The records of a key. Other fields are set where they are needed.
  local function opened(key, raw)
    local count, resets, first, purge, last, expires, swept, x, idle, at, zero = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    local page, dir = '', false
    if raw then
      count, resets, first, purge, last, expires, swept, x, idle, at, zero = struct.unpack('<HHddddddddd', raw)
      page = string.sub(raw, 78)
      if string.byte(raw, 77) == 100 then page, dir = '', page end
    end
    -- All at once: a table that grows costs more than all the rest.
    return {name = key .. ':holds1', count = count, resets = resets, first = first, purge = purge, last = last,
      expires = expires, swept = swept, x = x, idle = idle, at = at, zero = zero, page = page, dir = dir, gone = 0, base = '', id = ''}
  end

  -- The state of the algorithm; where there are records, a table: it without what has run out, and the records.
  local function look_held(key, now, n, limit, period, burst, id, request, options)
    local at = string.find(options, 'holds=', 1, true)
    local base, how = at > 1 and string.sub(options, 1, at - 2) or '', string.find(options, ',', at, true)
    local raw = known or redis.call('HGET', key .. ':holds1', '')
    if not raw and not how then return look(key, now, n, limit, period, burst, id, '', base) end
    local h = opened(key, raw)
    if how then
      local word, one, other = string.match(options, '^,(%l+)=(%d+),%l+=(%d+)$', how)
      if word == 'ttl' then
        h.ttl, h.life = tonumber(one), tonumber(other)
        h.most = tonumber(string.sub(options, at + 6, how - 1))
      elseif word == 'settle' then
        h.actual, h.stamp = tonumber(one), tonumber(other)
      else
        error('LIMITEROPTIONS ARGV[9] has no such holds: ' .. options)
      end
    end
    h.base, h.id = base, request
    local a, b, c, d, e, f = look(key, now, n, limit, period, is_bucket and burst - h.x or burst, id, '', base)
    if is_bucket and h.x > 0 then h.idle = h.idle + math.max(0, now - math.max(h.at, h.zero)) end
    if is_run_out(h, now) and (is_bucket or a > 0 and (is_log or b == h.x)) then
      h.gone = records().run_out(h, now, period)
      if is_bucket then
        a, h.x = a + h.gone * c, h.x - h.gone
      elseif is_fixed then
        h.gone = math.min(a, h.gone)
        a = a - h.gone
      end
    end
    -- A window that was given back as a whole lasts as long as there are records.
    if is_fixed and a == 0 and b > 0 and h.last <= now then b, c = 0, nil end
    return {a, b, c, d, e, f, h}
  end

  local function charged(now, n, limit, period, burst, t)
    local h = t[7]
    local a, b, c, d, e, f = charge(now, n, is_log and limit + h.gone or limit, period, is_bucket and burst - h.x or burst,
      t[1], t[2], t[3], t[4], t[5], t[6], h.base)
    if not a then return nil end
    if is_fixed and t[1] == 0 and t[2] > 0 and t[2] <= t[4] then b = t[2] end
    return {a, b, c, d, e, f, h}
  end

  -- Writes the state of the algorithm.
  local function put_state(key, now, n, limit, period, burst, id, t)
    local h = t[7]
    if is_bucket and t[1] >= (burst - h.x) * t[3] then
      -- Full. There is no such state, or one that is over.
      if t[5] then redis.call('DEL', key) end
      t[5], t[6], h.zero = nil, nil, now
      return
    end
    if is_fixed and t[2] == 0 then
      -- All was given back, and there is no record any more.
      redis.call('DEL', key)
      return
    end
    local latest = t[4]
    t[1], t[2], t[3], t[4], t[5], t[6] = write(key, now, n, limit, period, is_bucket and burst - h.x or burst, id,
      t[1], t[2], t[3], t[4], t[5], t[6], '', h.base)
    if is_bucket then h.zero = t[5] elseif is_fixed then t[4] = latest end
  end

  local function charge_held(now, n, limit, period, burst, t, b, c, d, e, f, options)
    if type(t) == 'number' then return charge(now, n, limit, period, burst, t, b, c, d, e, f, options) end
    local h = t[7]
    -- There is room once a record may be forgotten.
    h.is_full = h.ttl and h.count >= h.most and h.purge > now
    local taken = charged(now, n, limit, period, burst, t)
    h.is_allowed = taken ~= nil
    return not h.is_full and taken or nil
  end

  local function write_held(key, now, n, limit, period, burst, id, t, b, c, d, e, f, request, options)
    if type(t) == 'number' then return write(key, now, n, limit, period, burst, id, t, b, c, d, e, f, request, options) end
    local h = t[7]
    if is_run_out(h, now) then rare().sweep(key, now, limit, period, burst, id, t) end
    if is_bucket and h.ttl then
      if h.x == 0 then h.idle = 0 end
      h.x = h.x + n
    end
    put_state(key, now, n, limit, period, burst, id, t)
    if h.ttl then
      if h.count >= h.most then records().purge(h, now) end
      -- The record of what was just taken. What has been given back until a time later than this does not come back again.
      local ends, page = math.max(now + h.ttl, h.swept + 1), h.page
      local is_last = not h.dir and (page == '' or struct.unpack('<d', page, #page - 66) < ends)
      if not is_last then ends = records().free(h, ends) end
      if is_fixed and h.x ~= t[2] then
        -- Nothing of another window comes back.
        if h.count > 0 then records().forget(h) end
        h.first, h.x = 0, t[2]
      end
      if h.first == 0 or ends < h.first then h.first = ends end
      h.noted, h.count = ends, h.count + 1
      keep(h, ends + h.life, now)
      local text = struct.pack('<dBHddddd', ends, 0, h.resets, n, now, is_fixed and t[2] or h.idle, is_bucket and t[4] / t[3] or 0,
        ends + h.life) .. h.id
      if is_last then h.page, h.appends = page .. text, true else of.add(h, ends, text) end
    end
    if is_bucket and h.x > 0 then h.changed = true end
    save(h, now)
    return t
  end

  local function settle_held(key, now, n, limit, period, burst, id, t, b, c, d, e, f, request, options)
    if type(t) == 'number' then return settle(key, now, n, limit, period, burst, id, t, b, c, d, e, f, request, options) end
    local h = t[7]
    if is_run_out(h, now) then
      local is_written = h.gone > 0 and (is_fixed or is_bucket and t[5])
      rare().sweep(key, now, limit, period, burst, id, t)
      if is_written then put_state(key, now, 0, limit, period, burst, id, t) end
    end
    local latest = t[4]
    t[1], t[2], t[3], t[4], t[5], t[6] = settle(key, now, n, limit, period, is_bucket and burst - h.x or burst, id,
      t[1], t[2], t[3], t[4], t[5], t[6], '', h.base)
    if is_fixed then t[4] = latest end
    save(h, now)
    return t
  end

  local function back_held(key, now, n, limit, period, burst, id, stamp, t, b, c, d, e, f, request, options)
    if type(t) == 'number' then return back(key, now, n, limit, period, burst, id, stamp, t, b, c, d, e, f, request, options) end
    local h, ok = t[7], false
    if h.actual then return true, rare().settle(key, now, limit, period, burst, t) end
    if is_run_out(h, now) then settle_held(key, now, n, limit, period, burst, id, t) end
    if is_bucket and h.x > 0 then
      -- As without holds, up to what the bucket fills to.
      local parts, rate = t[3], t[4]
      local elapsed, full = math.max(0, now - stamp), (burst - h.x) * parts
      if n > burst or t[1] >= full or t[6] and t[6].other or elapsed >= math.ceil(n * parts / rate) then return false, t end
      t[1], ok = math.min(full, t[1] + n * parts - elapsed * rate), true
      put_state(key, now, n, limit, period, burst, id, t)
      h.changed = true
      save(h, now)
    elseif is_fixed and t[1] > 0 and t[1] <= n and t[2] == stamp and h.last > now then
      t[1], ok = 0, true
      put_state(key, now, n, limit, period, burst, id, t)
    else
      ok, t[1], t[2], t[3], t[4], t[5], t[6] = back(key, now, n, limit, period, burst, id, stamp, t[1], t[2], t[3], t[4], t[5], t[6],
        '', h.base)
    end
    return ok, t
  end

  local function answer_held(key, now, n, limit, period, burst, allowed, t, b, c, d, e, f, options)
    if type(t) == 'number' then return answer(key, now, n, limit, period, burst, allowed, t, b, c, d, e, f, options) end
    local h = t[7]
    local retry, remaining, next_us, reset_us, used = answer(key, now, n, limit, period, burst, allowed,
      t[1], t[2], t[3], t[4], t[5], t[6], h.base)
    if is_bucket and (h.x > 0 or remaining < 0) then
      remaining = math.max(0, remaining)
      retry = n > burst and -1 or not allowed and rare().told(now, n, burst, t)
      next_us, reset_us = rare().told(now, math.min(burst, remaining + 1), burst, t), rare().told(now, burst, burst, t)
    elseif is_log and h.gone > 0 then
      remaining = math.max(0, math.min(limit, limit - t[1] + h.gone))
      retry, next_us, reset_us = rare().times_of_log(key, now, n, limit, period, burst, t, retry, reset_us)
    end
    if is_fixed and t[1] == 0 then used = 0 end
    if h.actual then
      used = 8 * (h.forgotten or 0) + (h.status or 0)
    elseif h.noted then
      used = h.noted
    elseif h.is_full and not allowed then
      local wait = math.max(1, h.purge - now)
      if h.is_allowed then retry, used = wait, -6 elseif retry ~= -1 then retry = math.max(retry, wait) end
    end
    return retry, remaining, next_us, reset_us, used
  end

  function rare()
    if far then return far end
    far = {}
    -- Gives back what has run out: of a log the first ones of it. What is charged already of a log is charged again.
    function far.sweep(key, now, limit, period, burst, id, t)
      local h, added = t[7], is_log and t[1] - t[3] or 0
      if not is_log or t[3] == 0 then
        records().sweep(h, now)
        h.gone = 0
        return
      end
      local last, sum = nil, 0
      local function give()
        if sum > 0 and last > now - period then
          local _
          _, t[1], t[2], t[3], t[4], t[5], t[6] = back(key, now, sum, limit, period, burst, '', last, look(key, now, 0, limit, period,
            burst, '', '', h.base))
        end
      end
      -- In a list they are looked for from its beginning on.
      local most = kind == 'sliding-list' and math.max(1, math.min(12, math.floor(40000 / t[3]))) or 12
      records().sweep(h, of.each(h, h.swept, now, most, function(n, taken)
        if taken ~= last then
          give()
          last, sum = taken, 0
        end
        sum = sum + n
      end))
      give()
      t[1], t[2], t[3], t[4], t[5], t[6] = look(key, now, added, limit, period, burst, id, '', h.base)
      h.gone = is_run_out(h, now) and records().run_out(h, now, period) or 0
      if added > 0 then
        t[1], t[2], t[3], t[4], t[5], t[6] = charge(now, added, 9007199254740991, period, burst, t[1], t[2], t[3], t[4], t[5], t[6], h.base)
      end
    end

    -- How long until a bucket has so many permits, if all holds are settled as reserved.
    function far.told(now, wanted, burst, t)
      local credit, from, parts, rate, pending, ceiling = t[1], t[2], t[3], t[4], t[6], burst - t[7].x
      local function time(parts_wanted)
        if parts_wanted <= credit then return 0 end
        return pending and pending.time(parts_wanted) or from - now + math.ceil((parts_wanted - credit) / rate)
      end
      if wanted <= ceiling then return time(wanted * parts) end
      local last, full = records().last_open(t[7], now), time(ceiling * parts)
      local level = ceiling * parts
      if now + full > last then
        if pending then last = now + full else level = credit + math.max(0, last - from) * rate end
      end
      return last - now + math.ceil(math.max(0, wanted * parts - level) / rate)
    end

    -- The times in the answer of a log, with what has run out and is still in it, if that is not too much.
    function far.times_of_log(key, now, n, limit, period, burst, t, retry, reset)
      local h, dead = t[7], t[7].dead
      local live = t[1] - h.gone
      if not dead or #dead > 32 then return retry, reset, reset end
      -- How long the i-th stamp counts that has not run out.
      local function left(i)
        local at, before = i, -1
        while at ~= before do
          before = at
          local time = (answer(key, now, 0, t[1] - 1 - at, period, burst, false, t[1], t[2], t[3], t[4], t[5], t[6], h.base))
          at = i
          for _, one in ipairs(dead) do
            if one[1] <= time then at = at + one[2] end
          end
          if at <= before then return time end
        end
      end
      if live == 0 then return retry, 0, 0 end
      local over = live + n - limit
      return retry and retry > 0 and over > 0 and left(over - 1) or retry, left(live > limit and live - limit or 0), left(live - 1)
    end

    far.settle = hold_settlement(kind, back, records, charged, put_state, keep, save, far.sweep)
    return far
  end

  -- Ends all holds: nothing comes back any more.
  local function reset_held(key, now)
    local raw = redis.call('HGET', key .. ':holds1', '')
    if not raw then return end
    local h = opened(key, raw)
    records().forget(h)
    h.resets, h.x, h.changed = (h.resets + 1) % 65536, 0, true
    save(h, now)
  end

  return look_held, charge_held, write_held, settle_held, back_held, answer_held, reset_held
end
-- [/holds]
-- Others than those that the functions of the algorithm call.
local look, charge, write, settle, back, answer = look, charge, write, settle, back, answer
local holds = ARGV[9] and string.find(ARGV[9], 'holds=', 1, true)
local known = holds and ARGV[8] == '' and redis.call('HGET', (KEYS[1] or '') .. ':holds1', '')
if holds and ARGV[8] == '' and not known then
  -- A call where there are no records.
  ARGV[9] = string.sub(ARGV[9], 1, math.max(1, holds - 1) - 1)
elseif holds then
  look, charge, write, settle, back, answer = held(kind, (ARGV[5] or '') ~= '', look, charge, write, settle, back, answer,
    known)
end
