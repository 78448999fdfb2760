-- hold_records: the records of reservations beside the state of one key, in order of their ends, which are unique.
--
-- STATE    a hash, <state's key>:holds1. Field '': two little-endian numbers of two bytes, how many records and how many resets; nine
--          doubles: the first end that may still give back, the first and the last time until which one is kept, when the hash
--          expires, until when all has been given back, the window that still gives back (of a bucket the permits that are held), for
--          how long a bucket was full, until which time that is counted, when it is full; then 'p' and at most 32 records, or 'd' and for each page:
--          doubles, its first end, permits that it may give back, until when the first record is kept, the first time at which
--          one was taken. A page is the field of that first end.
--          A record: its end, a byte (1 settled), two bytes (the resets before it), doubles (permits, when they were taken, the end of
--          their window or for how long the bucket was full, the rate, until when it is kept), 16 bytes (the id)
-- [records]
local function hold_records(is_fixed, is_log)
  local WIDTH, ENTRY, PAGE = 67, 32, 32
  local of = {}

  -- How many entries or records are no later than a time.
  local function place(node, width, time)
    local low, high = 0, #node / width
    if high == 0 or struct.unpack('<d', node, #node - width + 1) <= time then return high end
    while low < high do
      local middle = math.ceil((low + high) / 2)
      if struct.unpack('<d', node, width * middle - width + 1) <= time then low = middle else high = middle - 1 end
    end
    return low
  end

  local function end_of(page, i) return (struct.unpack('<d', page, WIDTH * i - WIDTH + 1)) end

  local function field(h, at) return string.format('%.0f', (struct.unpack('<d', h.dir, ENTRY * at - ENTRY + 1))) end

  local function spliced(node, width, i, count, text)
    return string.sub(node, 1, width * i - width) .. text .. string.sub(node, width * (i + count) - width + 1)
  end

  -- Opens a page; that which was open must be written.
  local function turn(h, at)
    if h.dir and h.open ~= at then h.open, h.page = at, redis.call('HGET', h.name, field(h, at)) or '' end
    return h.page
  end

  -- Opens the page with a time.
  local function turn_to(h, time) return turn(h, h.dir and math.max(1, place(h.dir, ENTRY, time))) end
  of.turn_to = turn_to

  -- An end that no record has.
  function of.free(h, ends)
    for free = ends, ends + 15 do
      local page = turn_to(h, free)
      local i = place(page, WIDTH, free)
      if i == 0 or end_of(page, i) ~= free then return free end
    end
    local page = turn(h, h.dir and #h.dir / ENTRY)
    return end_of(page, #page / WIDTH) + 1
  end

  -- Adds a record.
  function of.add(h, ends, text)
    local page = turn_to(h, ends)
    local i = place(page, WIDTH, ends)
    h.page, h.appends = spliced(page, WIDTH, i + 1, 0, text), #page == WIDTH * i
  end

  -- Calls for each record that ends after a time, and not after another, at most so many; returns the end of the last.
  local function each(h, from, to, most, visit)
    local page = turn_to(h, from)
    while true do
      local last, stop = place(page, WIDTH, from), place(page, WIDTH, to)
      for i = last + 1, math.min(stop, last + most) do
        local ends, status, resets, n, taken, extra = struct.unpack('<dBHddd', page, WIDTH * i - WIDTH + 1)
        from = ends
        if status == 0 and resets == h.resets and (not is_fixed or extra == h.x) then visit(n, taken) end
      end
      if stop - last > most then return from end
      if not h.dir or h.open == #h.dir / ENTRY or struct.unpack('<d', h.dir, ENTRY * h.open + 1) > to then return to end
      if stop - last == most then return from end
      page, most = turn(h, h.open + 1), most - stop + last
    end
  end
  of.each = each

  -- The permits that have run out and are not given back yet. Of those in a log that are few also which.
  function of.run_out(h, now, period)
    local sum, dead = 0, {}
    local function visit(n, taken)
      if not is_log or taken > now - period then sum, dead[#dead + 1] = sum + n, {taken + period - now, n} end
    end
    local reached = each(h, h.swept, now, 4 * PAGE, visit)
    if reached < now then
      local at, last = place(h.dir, ENTRY, reached), place(h.dir, ENTRY, now)
      local function part(from, to) each(h, from, to, PAGE, visit) end
      local function first(i) return (struct.unpack('<d', h.dir, ENTRY * i - ENTRY + 1)) end
      if at == last then
        part(reached, now)
      else
        part(reached, first(at + 1) - 1)
        for i = at + 1, last - 1 do
          local _, n, _, taken = struct.unpack('<dddd', h.dir, ENTRY * i - ENTRY + 1)
          if not is_log or taken > now - period then sum = sum + n end
        end
        part(first(last) - 1, now)
      end
      dead = nil
    end
    h.dead = dead
    return sum
  end

  -- All until that time has been given back.
  function of.sweep(h, time)
    h.swept, h.changed = math.max(h.swept, time), true
    local page = turn_to(h, h.swept)
    local i = place(page, WIDTH, h.swept) + 1
    if WIDTH * i <= #page then
      h.first = end_of(page, i)
    elseif h.dir and ENTRY * h.open < #h.dir then
      h.first = struct.unpack('<d', h.dir, ENTRY * h.open + 1)
    else
      h.first = 0
    end
  end

  -- Nothing of what was taken until now is given back.
  function of.forget(h)
    h.first = 0
    if not h.dir then return end
    local entries = {}
    for i = 1, #h.dir / ENTRY do
      local first, _, kept, taken = struct.unpack('<dddd', h.dir, ENTRY * i - ENTRY + 1)
      entries[i] = struct.pack('<dddd', first, 0, kept, taken)
    end
    h.dir = table.concat(entries)
  end

  -- The last end of one that is open; now if there is none.
  function of.last_open(h, now)
    for at = h.dir and #h.dir / ENTRY or 1, 1, -1 do
      local _, sum = 0, 1
      if h.dir then _, sum = struct.unpack('<dd', h.dir, ENTRY * at - ENTRY + 1) end
      local page = sum > 0 and turn(h, at) or ''
      for i = #page / WIDTH, 1, -1 do
        local ends, status, resets = struct.unpack('<dBH', page, WIDTH * i - WIDTH + 1)
        if ends <= now then return now end
        if status == 0 and resets == h.resets then return ends end
      end
    end
    return now
  end

  local function entry_of(h, first, page)
    local sum, least, since = 0, 9007199254740991, 9007199254740991
    for i = 1, #page / WIDTH do
      local _, status, resets, n, taken, extra, _, kept = struct.unpack('<dBHddddd', page, WIDTH * i - WIDTH + 1)
      if status == 0 and resets == h.resets and (not is_fixed or extra == h.x) then sum = sum + n end
      least, since = math.min(least, kept), math.min(since, taken)
    end
    return struct.pack('<dddd', first, sum, least, since)
  end

  -- Writes the page that is open, if it is a field, or must become one.
  local function close(h)
    if not h.dirty then return end
    h.dirty = false
    if not h.dir and #h.page <= WIDTH * PAGE then return end
    local page = h.page
    if not h.dir then h.dir, h.open = entry_of(h, end_of(page, 1), page), 1 end
    local at, count = h.open, 1
    if #page <= WIDTH * PAGE / 4 and #h.dir > ENTRY then
      -- Pages with few records are united, so that there are not many.
      local left = at == 1 and 1 or at - 1
      local other = redis.call('HGET', h.name, field(h, at == 1 and 2 or left)) or ''
      if page == '' or #other + #page <= WIDTH * PAGE * 3 / 4 then
        redis.call('HDEL', h.name, field(h, left + 1))
        page, at, count = at == 1 and page .. other or other .. page, left, 2
      end
    end
    local first, right = struct.unpack('<d', h.dir, ENTRY * at - ENTRY + 1), ''
    if page ~= '' then first = math.min(first, end_of(page, 1)) end
    if #page > WIDTH * PAGE then
      -- Most are added at the end, which leaves full pages behind.
      local kept = WIDTH * (h.appends and PAGE or PAGE / 2)
      page, right = string.sub(page, 1, kept), string.sub(page, kept + 1)
    end
    if first ~= struct.unpack('<d', h.dir, ENTRY * at - ENTRY + 1) then redis.call('HDEL', h.name, field(h, at)) end
    h.dir = spliced(h.dir, ENTRY, at, count, entry_of(h, first, page) .. (right ~= '' and entry_of(h, end_of(right, 1), right) or ''))
    h.open, h.page = at, page
    if #h.dir == ENTRY then
      redis.call('HDEL', h.name, field(h, 1))
      h.dir = false
    else
      redis.call('HSET', h.name, field(h, at), page)
      if right ~= '' then redis.call('HSET', h.name, field(h, at + 1), right) end
    end
  end

  -- Until when the first record is kept; where it is in which page.
  local function first_kept(h)
    local node, width, offset, least, at = h.dir or h.page, h.dir and ENTRY or WIDTH, h.dir and 17 or 44, 0, 1
    for i = 1, #node / width do
      local kept = struct.unpack('<d', node, width * i - width + offset)
      if least == 0 or kept < least then least, at = kept, i end
    end
    return least, at
  end

  function of.renew(h)
    close(h)
    h.purge = first_kept(h)
  end

  -- Forgets records that need not be kept any more, of some pages. What it gives back may not be settled yet, of a log.
  function of.purge(h, now)
    for _ = 1, h.purge > 0 and h.purge <= now and 4 or 0 do
      close(h)
      local least, at = first_kept(h)
      if least == 0 or least > now then break end
      local page, kept = turn(h, at), {}
      for i = 1, #page / WIDTH do
        local text = string.sub(page, WIDTH * i - WIDTH + 1, WIDTH * i)
        local ends, status, resets = struct.unpack('<dBH', text)
        local is_open = is_log and status == 0 and resets == h.resets and ends > h.swept
        if is_open or struct.unpack('<d', text, 44) > now then kept[#kept + 1] = text end
      end
      if WIDTH * #kept == #page then break end
      h.count, h.page, h.dirty, h.changed, h.appends = h.count - #page / WIDTH + #kept, table.concat(kept), true, true, false
    end
    of.renew(h)
  end

  -- Before the hash is written: forgets records, and writes the page that is open.
  function of.save(h, now)
    if h.purge + 1000000 <= now then of.purge(h, now) end
    close(h)
  end

  return of
end

-- Settlements of reservations; the other functions are those of holds.lua.
local function hold_settlement(kind, back, records, charged, put_state, keep, save, sweep)
  local is_fixed, is_bucket = kind == 'fixed', kind == 'token-bucket'
  local is_log = not is_fixed and not is_bucket

  -- Where the record of a settlement is, and what is in it; nil if there is none.
  local function find(h, ends)
    if h.dir then records().turn_to(h, ends) end
    local from = 1
    while #h.id == 16 do
      local found = string.find(h.page, h.id, from, true)
      if not found then return nil end
      local at = found - 51
      if at % 67 == 1 and struct.unpack('<d', h.page, at) == ends then return at, struct.unpack('<BHddddd', h.page, at + 8) end
      from = found + 1
    end
  end

  -- What is charged above the capacity, and above that much of debts, is forgotten.
  local function charge_on(key, now, n, limit, period, burst, t, is_written)
    local h = t[7]
    local capacity = is_bucket and burst or limit
    local used = t[1]
    if is_bucket then used = burst - math.floor(t[1] / t[3]) elseif is_log then used = used - h.gone end
    local some = math.min(n, capacity, math.max(0, 2 * capacity - used))
    h.forgotten = n - some
    if some > 0 then
      if is_bucket then
        t[1], t[2] = t[1] - some * t[3], math.min(t[2], now + period)
      else
        t = charged(now, some, 9007199254740991, period, burst, t)
      end
    end
    if some > 0 or is_written then put_state(key, now, some, limit, period, burst, '', t) end
    return t
  end

  local function settle_bucket(h, n, actual, idle, rate_then, burst, t)
    local parts, rate = t[3], t[4]
    local used = burst - math.floor(t[1] / parts) - n
    local cost = math.min(actual, n, math.max(0, 2 * burst - used)) * parts
    -- At another rate nobody knows what would have refilled.
    local slack, idled = (burst - h.x) * parts - t[1], rate_then == rate / parts and h.idle - idle or 0
    -- What would have refilled while the bucket was full of what was left.
    local spare = idled <= 0 and 0 or idled >= math.ceil(cost / rate) and cost or math.min(cost, rate * idled)
    h.x, h.idle = h.x - n, math.max(0, h.idle - math.ceil(spare / rate))
    t[1] = (burst - h.x) * parts - slack - (cost - spare)
  end

  return function(key, now, limit, period, burst, t)
    local h, ends = t[7], t[7].stamp
    local at, status, resets, taken, since, extra, rate, kept = find(h, ends)
    if not at or kept <= now then return t end
    h.status = 3
    if status == 1 then return t end
    local is_open = ends > now and resets == h.resets
    h.status = is_open and 1 or 2
    local is_written, more = false, h.actual
    if h.first > 0 and h.first <= now then
      is_written = h.gone > 0 and not is_log
      sweep(key, now, limit, period, burst, '', t)
      at = find(h, ends)
    end
    if is_open then
      local less = math.max(0, taken - h.actual)
      more = math.max(0, h.actual - taken)
      if is_bucket then
        settle_bucket(h, taken, h.actual, extra, rate, burst, t)
        is_written = true
      elseif is_fixed and less > 0 and t[2] == extra and t[1] > 0 then
        t[1], t[2], is_written = math.max(0, t[1] - less), math.min(t[2], t[4]), true
      elseif is_log and less > 0 and since > now - period then
        local _
        _, t[1], t[2], t[3], t[4], t[5], t[6] = back(key, now, less, limit, period, burst, '', since, t[1], t[2], t[3], t[4], t[5], t[6])
      end
    end
    local first = kept
    if now > ends then kept = now + kept - ends end
    local page = h.page
    h.page = string.sub(page, 1, at + 7) .. '\1' .. string.sub(page, at + 9, at + 42) .. struct.pack('<d', kept)
      .. string.sub(page, at + 51)
    keep(h, kept, now)
    if first ~= kept and first == h.purge then records().renew(h) end
    t = charge_on(key, now, more, limit, period, burst, t, is_written)
    save(h, now)
    return t
  end
end
-- [/records]
