
-- holds: reservations beside the state of an algorithm. A call of a policy that has them says so in ARGV[9]; all others do not
-- come here. A reservation is a take and a record of it; until it is settled or its time is over the record says what comes back then.
--
-- KEYS     beside the state, in its slot: <state's key>:holds1, a hash. Field '': little-endian, in two bytes each the records
--          and the number of resets, then doubles: the first end in 'g', the first time in 'k', the latest end, when the hash expires, and the
--          window to which 'g' belongs (of a bucket the permits in 'g'; then for how long the bucket was full, until which time
--          that is counted, and when it is full). An end: the record: a byte (1 settled), two bytes (the number of resets), doubles
--          (permits, when they were taken, the end of their window or for how long the bucket was full, until when it is kept), the id.
--          'g': permits that will come back, by end. 'k': ends of records, by until when they are kept. 'l': of a log,
--          the permits in 'g' by when they were taken. All three are indexes of ends_index.lua
-- ARGV     9 after the options of the algorithm 'holds=<most records>', and for a reservation ',ttl=<us>,life=<us>' (how long the
--          record is kept after its end); 8 is its id then. For a settlement ARGV[7] is 'back:<end>', 8 the id, and 9 ends with
--          ',settle=<actual>,end=<end>'
-- RETURNS  the six numbers of the algorithm; of a reservation stamp_us is its end; -6 where it is denied because there are too
--          many. Of a settlement allowed is 1, and stamp_us is 8 * the permits that were forgotten + what became of it:
--          0 no record, 1 settled, 2 settled after its end or a reset, 3 settled before
-- EXPIRES  with the last record
-- TWIN     io/limiter/inprocess/HeldState.java
-- [holds]
local function held(kind, given, look, charge, write, settle, back, answer)
  local FOREVER, MOST = 9007199254740991, 32
  local is_fixed, is_bucket = kind == 'fixed', kind == 'token-bucket'
  local is_log = not is_fixed and not is_bucket
  local made = nil

  local function field(time) return string.format('%.0f', time) end

  local function get(_, h, name)
    local value = h.fields[name]
    if value == nil then
      value = h.reads and redis.call('HGET', h.name, name)
      h.fields[name] = value
    end
    return value
  end

  local function put(h, name, value)
    h.fields[name], h.changed[name], h.is_changed = value, true, true
  end

  local function index()
    made = made or ends_index(get, put, '<dd', 16)
    return made
  end

  local function root(h, name) return get('', h, name) or '' end

  local function put_root(h, name, node) put(h, name, node ~= '' and node) end

  local function sum_until(h, name, time)
    local node = root(h, name)
    return node == '' and 0 or index().sum_until('', h, name, node, time)
  end

  local function first_of(h, name)
    local node = root(h, name)
    return node == '' and 0 or (struct.unpack('<d', string.byte(node) == 112 and node or index().page('', h, name, node, 0), 2))
  end

  local function last_of(h, name)
    local node = root(h, name)
    local page = (node == '' or string.byte(node) == 112) and node or index().page('', h, name, node, FOREVER)
    return page == '' and 0 or (struct.unpack('<d', page, #page - 15))
  end

  -- What is noted for a time: the number, and in how many entries up to it; nil if nothing is.
  local function noted(h, name, time)
    local node = root(h, name)
    if node == '' or string.byte(node) == 112 and struct.unpack('<d', node, #node - 15) < time then return nil end
    local page = index().page('', h, name, node, time)
    local i = index().place(page, time)
    if i == 0 then return nil end
    local at, n = index().entry(page, i)
    return at == time and n or nil
  end

  local function add(h, name, time, n)
    local node = root(h, name)
    if node == '' then
      put(h, name, 'p' .. struct.pack('<dd', time, n))
    elseif #node < 1024 and string.byte(node) == 112 and struct.unpack('<d', node, #node - 15) < time then
      put(h, name, node .. struct.pack('<dd', time, n))
    else
      put(h, name, index().insert('', h, name, node, time, n))
    end
  end

  -- Removes so many of what is noted for a time; nil for all. Returns whether anything is.
  local function remove(h, name, time, some)
    local node = root(h, name)
    if #node < 1024 and string.byte(node) == 112 then
      for at = #node - 15, 2, -16 do
        local other, n = struct.unpack('<dd', node, at)
        if other == time then
          local rest = some and n > some and struct.pack('<dd', time, n - some) or ''
          put_root(h, name, #node + #rest > 17 and string.sub(node, 1, at - 1) .. rest .. string.sub(node, at + 16) or '')
          return true
        elseif other < time then
          return false
        end
      end
    end
    local n = noted(h, name, time)
    if not n then return false end
    put_root(h, name, index().remove('', h, name, root(h, name), time, 1))
    if some and n > some then add(h, name, time, n - some) end
    return true
  end

  local rare

  -- The records of a key, as they are stored.
  local function loaded(name, raw)
    local kept, resets, first, purge, newest, expires, x, idle, at, zero = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    if raw then
      kept, resets, first, purge, newest, expires, x = struct.unpack('<HHddddd', raw)
      if is_bucket then idle, at, zero = struct.unpack('<ddd', raw, 45) end
    end
    -- All fields at once: a table that grows costs more than all the rest.
    return {name = name, fields = {[''] = raw, g = nil, k = nil, l = nil}, changed = {}, reads = raw, gone = 0, kept = kept,
      resets = resets, first = first, purge = purge, newest = newest, expires = expires, x = x, idle = idle, at = at, zero = zero,
      is_changed = false, renews = false, noted = false, is_full = false, is_allowed = false, key = '', base = '', most = 0,
      id = '', ttl = false, life = 0, actual = false, stamp = 0, status = 0, forgotten = 0}
  end

  local function save(h, now)
    if not h.is_changed then return end
    if h.purge + 1000000 <= now then rare().purge(h, now) end
    if h.kept == 0 then
      redis.call('DEL', h.name)
      return
    end
    local header = struct.pack('<HHddddd', h.kept, h.resets, h.first, h.purge, h.newest, h.expires, h.x)
    if is_bucket then header = header .. struct.pack('<ddd', h.idle, math.max(h.at, now), h.zero) end
    local set, gone = {'', header}, {}
    for name in pairs(h.changed) do
      local value = h.fields[name]
      if value then
        set[#set + 1], set[#set + 2] = name, value
      else
        gone[#gone + 1] = name
      end
    end
    redis.call('HSET', h.name, unpack(set))
    if #gone > 0 then redis.call('HDEL', h.name, unpack(gone)) end
    if h.renews or given then redis.call('PEXPIRE', h.name, math.max(1, math.ceil((h.expires - now) / 1000))) end
  end

  local function is_run_out(h, now) return h.first > 0 and h.first <= now end

  -- The state of the algorithm, without what has run out, and h: the records.
  local function look_held(key, now, n, limit, period, burst, id, request, options)
    local base, most, how, one, other = string.match(options, '^(.-),?holds=(%d+),?(%l*)=?(%d*)[^%d]*(%d*)$')
    local name, h = key .. ':holds1', nil
    if how == '' then
      h = loaded(name, redis.call('HGET', name, ''))
    elseif how == 'ttl' or how == 'settle' then
      one, other = tonumber(one), tonumber(other)
      local record, values = field(how == 'ttl' and now + one or other), nil
      if is_log then
        values = redis.call('HMGET', name, '', 'g', record, 'k', 'l')
      else
        values = redis.call('HMGET', name, '', 'g', record, 'k')
      end
      h = loaded(name, values[1])
      local fields = h.fields
      fields.g, fields[record], fields.k, fields.l = values[2], values[3], values[4], values[5]
      if how == 'ttl' then h.ttl, h.life = one, other else h.actual, h.stamp = one, other end
    else
      error('LIMITEROPTIONS ARGV[9] has no such holds: ' .. options)
    end
    h.key, h.base, h.most, h.id = key, base, tonumber(most), request
    local a, b, c, d, e, f = look(key, now, n, limit, period, is_bucket and burst - h.x or burst, id, '', base)
    if is_bucket and h.x > 0 then h.idle = h.idle + math.max(0, now - math.max(h.at, h.zero)) end
    if is_run_out(h, now) and (is_bucket or a > 0 and (is_log or b == h.x)) then
      h.gone = sum_until(h, 'g', now)
      if is_bucket then
        a, h.x = a + h.gone * c, h.x - h.gone
      elseif is_fixed then
        h.gone = math.min(a, h.gone)
        a = a - h.gone
      else
        h.gone = math.max(0, h.gone - sum_until(h, 'l', now - period))
      end
    end
    -- A window that was given back as a whole lasts as long as there are records.
    if is_fixed and a == 0 and b > 0 and last_of(h, 'k') <= now then b, c = 0, nil end
    return {a, b, c, d, e, f, h = h}
  end

  local function charged(now, n, limit, period, burst, t)
    local h = t.h
    local a, b, c, d, e, f = charge(now, n, is_log and limit + h.gone or limit, period, is_bucket and burst - h.x or burst,
      t[1], t[2], t[3], t[4], t[5], t[6], h.base)
    if not a then return nil end
    if is_fixed and t[1] == 0 and t[2] > 0 and t[2] <= t[4] then b = t[2] end
    return {a, b, c, d, e, f, h = h}
  end

  -- Writes the state of the algorithm.
  local function put_state(key, now, n, limit, period, burst, id, t)
    local h = t.h
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

  -- What only some calls need: functions that are not made take no time.
  local far = nil
  function rare()
    if far then return far end
    far = {}
    -- Removes all that is noted until a time.
    function far.cut(h, name, time)
      local node = root(h, name)
      if node == '' then return end
      local of, field_of, page = index(), nil, node
      if string.byte(node) == 100 then
        local at = math.max(1, of.place(node, time))
        for i = 1, at - 1 do put(h, of.page_name(name, node, i), false) end
        node = 'd' .. string.sub(node, 16 * at - 14)
        field_of = of.page_name(name, node, 1)
        page = get('', h, field_of)
      end
      local count = of.place(page, time)
      if count == of.size(page) then
        if field_of then put(h, field_of, false) end
        node = field_of and #node > 17 and 'd' .. string.sub(node, 18) or ''
      elseif count > 0 then
        page = 'p' .. string.sub(page, 16 * count + 2)
        if field_of then put(h, field_of, page) else node = page end
        if field_of and #node > 17 then
          node = 'd' .. struct.pack('<dd', of.entry(node, 1), of.total(page, 1, of.size(page))) .. string.sub(node, 18)
        end
      end
      if #node == 17 and string.byte(node) == 100 then
        -- A directory has two pages at least.
        field_of = of.page_name(name, node, 1)
        node = get('', h, field_of)
        put(h, field_of, false)
      end
      put_root(h, name, node)
    end

    -- Forgets records that need not be kept any more, the first ones first.
    function far.purge(h, now)
      if h.purge == 0 or h.purge > now then return end
      local of = index()
      local node = of.page('', h, 'k', root(h, 'k'), 0)
      local count, last = 0, math.min(MOST, of.place(node, now))
      while count < last do
        local _, ends = of.entry(node, count + 1)
        -- What it gives back may not be settled yet.
        if is_log and h.first > 0 and h.first <= ends then break end
        put(h, field(ends), false)
        count = count + 1
      end
      if count > 0 then
        put_root(h, 'k', of.remove('', h, 'k', root(h, 'k'), (of.entry(node, 1)) , count))
        h.kept, h.purge = h.kept - count, first_of(h, 'k')
      end
    end

    -- Gives back what has run out: of a log the first ones of it. What is charged already of a log is charged again.
    function far.sweep(key, now, limit, period, burst, id, t)
      local h, added = t.h, is_log and t[1] - t[3] or 0
      if not is_log then
        far.cut(h, 'g', now)
        h.first, h.gone = first_of(h, 'g'), 0
        h.is_changed = true
        return
      end
      if t[3] == 0 then
        far.cut(h, 'g', FOREVER)
        far.cut(h, 'l', FOREVER)
        h.first, h.gone = 0, 0
        return
      end
      local of, names = index(), {}
      local node = of.page('', h, 'g', root(h, 'g'), h.first)
      local count = math.min(kind == 'sliding-list' and MOST / 2 or MOST, of.place(node, now))
      for i = 1, count do names[i] = field((of.entry(node, i))) end
      local last, sum = nil, 0
      local function give()
        if sum > 0 and last > now - period then
          local _
          _, t[1], t[2], t[3], t[4], t[5], t[6] = back(key, now, sum, limit, period, burst, '', last, look(key, now, 0, limit, period,
            burst, '', '', h.base))
        end
      end
      for _, record in ipairs(redis.call('HMGET', h.name, unpack(names))) do
        if record then
          local _, _, n, taken = struct.unpack('<BHdd', record)
          remove(h, 'l', taken, n)
          if taken ~= last then
            give()
            last, sum = taken, 0
          end
          sum = sum + n
        end
      end
      give()
      put_root(h, 'g', of.remove('', h, 'g', root(h, 'g'), h.first, count))
      h.first = first_of(h, 'g')
      t[1], t[2], t[3], t[4], t[5], t[6] = look(key, now, added, limit, period, burst, id, '', h.base)
      h.gone = is_run_out(h, now) and math.max(0, sum_until(h, 'g', now) - sum_until(h, 'l', now - period)) or 0
      if added > 0 then
        t[1], t[2], t[3], t[4], t[5], t[6] = charge(now, added, FOREVER, period, burst, t[1], t[2], t[3], t[4], t[5], t[6], h.base)
      end
    end

    -- How long until a bucket has so many permits, if all holds are settled as reserved.
    function far.told(now, wanted, burst, t)
      local credit, from, parts, rate, pending, ceiling = t[1], t[2], t[3], t[4], t[6], burst - t.h.x
      local function time(parts_wanted)
        if parts_wanted <= credit then return 0 end
        return pending and pending.time(parts_wanted) or from - now + math.ceil((parts_wanted - credit) / rate)
      end
      if wanted <= ceiling then return time(wanted * parts) end
      local last, full = last_of(t.h, 'g'), time(ceiling * parts)
      local level = ceiling * parts
      if now + full > last then
        if pending then last = now + full else level = credit + math.max(0, last - from) * rate end
      end
      return last - now + math.ceil(math.max(0, wanted * parts - level) / rate)
    end

    -- The stamps of a log that have run out and are still in it: how long each would count, and how many; nil if they are many.
    local function dead_of(h, now, period)
      local of, names, dead = index(), {}, {}
      local node = of.page('', h, 'g', root(h, 'g'), h.first)
      local count = of.place(node, now)
      if count > MOST or count == of.size(node) and string.byte(root(h, 'g')) == 100 then return nil end
      for i = 1, count do names[i] = field((of.entry(node, i))) end
      for _, record in ipairs(redis.call('HMGET', h.name, unpack(names))) do
        if record then
          local _, _, n, taken = struct.unpack('<BHdd', record)
          if taken > now - period then dead[#dead + 1] = {taken + period - now, n} end
        end
      end
      return dead
    end

    -- The times in the answer of a log, with what has run out and is still in it.
    function far.times_of_log(key, now, n, limit, period, burst, t, times)
      local h, dead = t.h, dead_of(t.h, now, period)
      local live = t[1] - h.gone
      if not dead then return times.retry, times.reset, times.reset end
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
      if live == 0 then return times.retry, 0, 0 end
      local over = live + n - limit
      return times.retry and times.retry > 0 and over > 0 and left(over - 1) or times.retry,
        left(live > limit and live - limit or 0), left(live - 1)
    end

    -- Ends all holds: nothing comes back any more.
    function far.reset(key, now)
      local raw = redis.call('HGET', key .. ':holds1', '')
      if not raw then return end
      local h = loaded(key .. ':holds1', raw)
      far.cut(h, 'g', FOREVER)
      if is_log then far.cut(h, 'l', FOREVER) end
      h.resets, h.first, h.x, h.is_changed = (h.resets + 1) % 65536, 0, 0, true
      save(h, now)
    end

    return far
  end

  local function charge_held(now, n, limit, period, burst, t)
    local h = t.h
    if h.ttl and h.kept >= h.most then
      if is_log and is_run_out(h, now) then rare().sweep(h.key, now, limit, period, burst, '', t) end
      rare().purge(h, now)
      h.is_full = h.kept >= h.most
    end
    local taken = charged(now, n, limit, period, burst, t)
    h.is_allowed = taken ~= nil
    return not h.is_full and taken or nil
  end

  -- Keeps a record until that time.
  local function keep(h, ends, time, now)
    while noted(h, 'k', time) do time = time + 1 end
    add(h, 'k', time, ends)
    if h.purge == 0 or time < h.purge then h.purge = time end
    if time > h.expires then h.expires, h.renews = time + math.floor((time - now) / 8), true end
    return time
  end

  -- The record of what was just taken.
  local function note(h, now, n, period, t)
    local ends = now + h.ttl
    for _ = 1, 16 do
      if not get('', h, field(ends)) then break end
      ends = ends + 1
    end
    if get('', h, field(ends)) then ends = h.newest + 1 end
    h.newest, h.noted = math.max(h.newest, ends), ends
    if is_fixed and h.x ~= t[2] then
      -- Nothing of another window comes back.
      rare().cut(h, 'g', FOREVER)
      h.first, h.x = 0, t[2]
    end
    if is_bucket or ends < (is_fixed and t[2] or now + period) then
      add(h, 'g', ends, n)
      if h.first == 0 or ends < h.first then h.first = ends end
      if is_log then
        local before = noted(h, 'l', now) or 0
        if before > 0 then remove(h, 'l', now) end
        add(h, 'l', now, before + n)
      end
    end
    h.kept = h.kept + 1
    put(h, field(ends), struct.pack('<BHdddd', 0, h.resets, n, now, is_fixed and t[2] or h.idle or 0, keep(h, ends, ends + h.life, now))
      .. h.id)
  end

  local function write_held(key, now, n, limit, period, burst, id, t)
    local h = t.h
    if is_run_out(h, now) then rare().sweep(key, now, limit, period, burst, id, t) end
    if is_bucket and h.ttl then
      if h.x == 0 then h.idle = 0 end
      h.x = h.x + n
    end
    put_state(key, now, n, limit, period, burst, id, t)
    if h.ttl then note(h, now, n, period, t) end
    if is_bucket and h.x > 0 then h.is_changed = true end
    save(h, now)
    return t
  end

  local function settle_held(key, now, n, limit, period, burst, id, t)
    local h = t.h
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

  -- What is charged above the capacity, and above that much of debts, is forgotten.
  local function charge_on(key, now, n, limit, period, burst, t, is_written)
    local h = t.h
    local capacity = is_bucket and burst or limit
    local used = t[1]
    if is_bucket then used = burst - math.floor(t[1] / t[3]) elseif is_log then used = used - h.gone end
    local some = math.min(n, capacity, math.max(0, 2 * capacity - used))
    h.forgotten = n - some
    if some > 0 then
      if is_bucket then
        t[1], t[2] = t[1] - some * t[3], math.min(t[2], now + period)
      else
        t = charged(now, some, FOREVER, period, burst, t)
      end
    end
    if some > 0 or is_written then put_state(key, now, some, limit, period, burst, '', t) end
    return t
  end

  local function settle_bucket(h, n, actual, idle, burst, t)
    local parts, rate = t[3], t[4]
    local used = burst - math.floor(t[1] / parts) - n
    local cost = math.min(actual, n, math.max(0, 2 * burst - used)) * parts
    local slack, idled = (burst - h.x) * parts - t[1], h.idle - idle
    -- What would have refilled while the bucket was full of what was left.
    local spare = idled <= 0 and 0 or idled >= math.ceil(cost / rate) and cost or math.min(cost, rate * idled)
    h.x, h.idle = h.x - n, math.max(0, h.idle - math.ceil(spare / rate))
    t[1] = (burst - h.x) * parts - slack - (cost - spare)
  end

  local function back_held(key, now, n, limit, period, burst, id, stamp, t)
    local h = t.h
    if not h.actual then
      if is_run_out(h, now) then settle_held(key, now, n, limit, period, burst, id, t) end
      local ok = false
      if is_bucket and h.x > 0 then
        -- As without holds, up to what the bucket fills to.
        local parts, rate = t[3], t[4]
        local elapsed, full = math.max(0, now - stamp), (burst - h.x) * parts
        if n > burst or t[1] >= full or t[6] and t[6].other or elapsed >= math.ceil(n * parts / rate) then return false, t end
        t[1], ok = math.min(full, t[1] + n * parts - elapsed * rate), true
        put_state(key, now, n, limit, period, burst, id, t)
        h.is_changed = true
        save(h, now)
        return true, t
      end
      if is_fixed and t[1] > 0 and t[1] <= n and t[2] == stamp and last_of(h, 'k') > now then
        t[1] = 0
        put_state(key, now, n, limit, period, burst, id, t)
        return true, t
      end
      ok, t[1], t[2], t[3], t[4], t[5], t[6] = back(key, now, n, limit, period, burst, id, stamp, t[1], t[2], t[3], t[4], t[5], t[6],
        '', h.base)
      return ok, t
    end
    local record, ends = get('', h, field(h.stamp)), h.stamp
    local status, resets, taken, at, extra, kept
    if record then status, resets, taken, at, extra, kept = struct.unpack('<BHdddd', record) end
    h.status = 0
    if not record or string.sub(record, 36) ~= h.id or kept <= now then return true, t end
    h.status = 3
    if status == 1 then return true, t end
    local is_open = ends > now and resets == h.resets
    h.status = is_open and 1 or 2
    local is_written = is_run_out(h, now) and h.gone > 0 and not is_log
    if is_run_out(h, now) then rare().sweep(key, now, limit, period, burst, '', t) end
    local more = h.actual
    if is_open then
      local less = math.max(0, taken - h.actual)
      more = math.max(0, h.actual - taken)
      if remove(h, 'g', ends) then
        if ends == h.first then h.first = first_of(h, 'g') end
        if is_log then remove(h, 'l', at, taken) end
      end
      if is_bucket then
        settle_bucket(h, taken, h.actual, extra, burst, t)
        is_written = true
      elseif is_fixed and less > 0 and t[2] == extra and t[1] > 0 then
        t[1], t[2], is_written = math.max(0, t[1] - less), math.min(t[2], t[4]), true
      elseif is_log and less > 0 and at > now - period then
        local _
        _, t[1], t[2], t[3], t[4], t[5], t[6] = back(key, now, less, limit, period, burst, '', at, t[1], t[2], t[3], t[4], t[5], t[6])
      end
    elseif now > ends then
      remove(h, 'k', kept)
      h.purge = first_of(h, 'k')
      kept = keep(h, ends, now + kept - ends, now)
    end
    put(h, field(ends), struct.pack('<BHdddd', 1, resets, taken, at, extra, kept) .. h.id)
    t = charge_on(key, now, more, limit, period, burst, t, is_written)
    save(h, now)
    return true, t
  end

  local function answer_held(key, now, n, limit, period, burst, allowed, t)
    local h = t.h
    local retry, remaining, next_us, reset_us, used = answer(key, now, n, limit, period, burst, allowed,
      t[1], t[2], t[3], t[4], t[5], t[6], h.base)
    if is_bucket and (h.x > 0 or remaining < 0) then
      remaining = math.max(0, remaining)
      retry = n > burst and -1 or not allowed and rare().told(now, n, burst, t)
      next_us, reset_us = rare().told(now, math.min(burst, remaining + 1), burst, t), rare().told(now, burst, burst, t)
    elseif is_log and h.gone > 0 then
      remaining = math.max(0, math.min(limit, limit - t[1] + h.gone))
      retry, next_us, reset_us =
        rare().times_of_log(key, now, n, limit, period, burst, t, {retry = retry, reset = reset_us})
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

  return look_held, charge_held, write_held, settle_held, back_held, answer_held, function(key, now) rare().reset(key, now) end
end
-- [/holds]
-- Others than those that the functions of the algorithm call.
local look, charge, write, settle, back, answer = look, charge, write, settle, back, answer
if ARGV[9] and string.find(ARGV[9], 'holds=', 1, true) then
  look, charge, write, settle, back, answer = held(kind, (ARGV[5] or '') ~= '', look, charge, write, settle, back, answer)
end
