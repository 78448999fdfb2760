-- hold_records: what only few calls need of the records of reservations, for holds.lua: many of them, and those that have run out. The
-- functions are made when they are needed, because that takes time.
--
-- STATE    of a window or a bucket the value of its key; of a log that of <state's key>:holds1. A byte (6 window, 7 bucket, 8 log), at
--          most 32 records in order of their ends, which are unique, then numbers, so that a call reads and writes only the end of it.
--          Little-endian: two bytes (how many resets); doubles: how far the time of records is ahead of the clock; of a window that
--          which gives back less the present one; two bytes (how many records); doubles: of a window its end, of a bucket the
--          rate at which it was idle, parts, rate; when the key expires, the last time until which a record is kept; of a log its
--          shortest period. Then what a settlement changes: the first end that may still give back, when this was written; of a window
--          its count; of a bucket since when it refills, when it is full, the permits that are held, how long it was full, its credit. Big-endian
--          four bytes (a bit for each record that is settled since held last wrote, from the last one on), and one: 2 records, 3 a
--          directory, 4 records that only held decides about. A directory of pages is instead of many records; the pages are
--          fields of the hash <state's key>:holds1, named by their first ends. There field '' of a log is its directory. Of each page,
--          as doubles: its first end, the permits that it may give back, until when the first record is kept, when the first was taken.
--          A record: its end, a byte (1 settled), two bytes (the resets before it), doubles: permits, when they were taken (of a
--          window its name, of a bucket how long it was full), until when it is kept; 16 bytes: the id.
-- [records]
-- h: the records of one key. hash: where pages are; dir or page, and which page is open; and the numbers above.
local function hold_records(h, look, back, answer)
  local WIDTH, ENTRY, PAGE = 51, 32, 32

  local function double(text, i) return (struct.unpack('<d', text, i)) end

  -- How many entries or records are no later than that.
  local function place(node, width, ends)
    local low, high = 0, #node / width
    if high == 0 or double(node, #node - width + 1) <= ends then return high end
    while low < high do
      local middle = math.ceil((low + high) / 2)
      if double(node, width * middle - width + 1) <= ends then low = middle else high = middle - 1 end
    end
    return low
  end

  local function first_of(i) return double(h.dir, ENTRY * i - ENTRY + 1) end

  local function field(i) return string.format('%.0f', first_of(i)) end

  local function spliced(node, width, i, removed, text)
    return string.sub(node, 1, width * i - width) .. text .. string.sub(node, width * (i + removed) - width + 1)
  end

  local function entry_of(from, node)
    local sum, least, since = 0, 9007199254740991, 9007199254740991
    for i = 1, #node, WIDTH do
      local _, status, before, n, extra, kept = struct.unpack('<dBHddd', node, i)
      if status == 0 and before == h.resets and (not h.is_fixed or extra == h.x) then sum = sum + n end
      least, since = math.min(least, kept), math.min(since, extra)
    end
    return struct.pack('<dddd', from, sum, least, since)
  end

  -- Writes the page that is open, if there are several or must be.
  local function close()
    if not h.dir and #h.page > WIDTH * PAGE then
      redis.call('DEL', h.hash)
      h.dir, h.turned, h.dirty, h.expires = entry_of(double(h.page, 1), h.page), 1, true, 0
    end
    if not h.dir or not h.dirty then return end
    h.dirty = false
    local i, removed = h.turned, 1
    if #h.page <= WIDTH * PAGE / 4 and #h.dir > ENTRY then
      -- Pages with few records are united, so that there are not many.
      local left = math.max(1, i - 1)
      local other = redis.call('HGET', h.hash, field(i == 1 and 2 or left)) or ''
      if h.page == '' or #other + #h.page <= WIDTH * PAGE * 3 / 4 then
        redis.call('HDEL', h.hash, field(left + 1))
        h.page, i, removed = i == 1 and h.page .. other or other .. h.page, left, 2
      end
    end
    local from, right = first_of(i), ''
    if h.page ~= '' and double(h.page, 1) < from then
      redis.call('HDEL', h.hash, field(i))
      from = double(h.page, 1)
    end
    if #h.page > WIDTH * PAGE then
      -- Most are added at the end, which leaves full pages behind.
      local kept = WIDTH * (h.appends and PAGE or PAGE / 2)
      h.page, right = string.sub(h.page, 1, kept), string.sub(h.page, kept + 1)
    end
    h.dir = spliced(h.dir, ENTRY, i, removed, entry_of(from, h.page) .. (right ~= '' and entry_of(double(right, 1), right) or ''))
    h.turned = i
    if #h.dir == ENTRY then
      redis.call('HDEL', h.hash, field(1))
      h.dir = false
    else
      redis.call('HSET', h.hash, field(i), h.page)
      if right ~= '' then redis.call('HSET', h.hash, field(i + 1), right) end
    end
  end

  -- Writes the page that is open. Returns what is beside the numbers, and when the key expires.
  function h.close()
    close()
    return h.dir or h.page, h.expires
  end

  -- Opens a page.
  local function turn(i)
    if h.dir and h.turned ~= i then
      close()
      h.turned, h.page = i, redis.call('HGET', h.hash, field(i)) or ''
    end
    return h.page
  end

  -- Opens the page with that end.
  local function turn_to(ends) return turn(h.dir and math.max(1, place(h.dir, ENTRY, ends))) end
  h.turn_to = turn_to

  -- Adds a record, with that end or one that no other has. Returns the end.
  function h.add(ends, life, text, id)
    local free, node = ends, turn_to(ends)
    local i = place(node, WIDTH, ends)
    while i > 0 and double(node, WIDTH * i - WIDTH + 1) == free and free <= ends + 255 do
      free = free + 1
      if WIDTH * i < #node then
        if double(node, WIDTH * i + 1) == free then i = i + 1 end
      elseif h.dir and ENTRY * h.turned < #h.dir and first_of(h.turned + 1) == free then
        node, i = turn(h.turned + 1), 1
      end
    end
    if free > ends + 255 then
      node = turn(h.dir and #h.dir / ENTRY)
      i = #node / WIDTH
      free = double(node, #node - WIDTH + 1) + 1
    end
    h.page, h.appends, h.dirty = spliced(node, WIDTH, i + 1, 0, struct.pack('<d', free) .. text .. struct.pack('<d', free + life) .. id), #node == WIDTH * i, true
    return free
  end

  -- Calls for each record that ends after a time, and not after another, and may give back; at most for so many. Returns the
  -- end of the last.
  local function each(from, to, most, visit)
    local node = turn_to(from + 1)
    while true do
      local before, stop = place(node, WIDTH, from), place(node, WIDTH, to)
      for i = before + 1, math.min(stop, before + most) do
        local ends, status, earlier, n, extra = struct.unpack('<dBHdd', node, WIDTH * i - WIDTH + 1)
        from = ends
        if status == 0 and earlier == h.resets and (not h.is_fixed or extra == h.x) then visit(n, extra) end
      end
      if stop - before > most then return from end
      if not h.dir or h.turned == #h.dir / ENTRY or first_of(h.turned + 1) > to then return to end
      if stop - before == most then return from end
      node, most = turn(h.turned + 1), most - stop + before
    end
  end

  -- What was taken later than that may still be in a log.
  local function cut(now, period) return now - (h.x > 0 and h.x < period and h.x or period) end

  -- Counts what has run out.
  function h.run_out(now, period)
    local after = h.is_log and cut(now, period)
    local sum, few = 0, {}
    local function visit(n, taken)
      if not h.is_log then
        sum = sum + n
      elseif taken > after then
        sum, few[#few + 1] = sum + n, {taken + period - now, n}
      end
    end
    local reached = each(h.first - 1, h.time, PAGE, visit)
    if reached < h.time then
      local low, high = place(h.dir, ENTRY, reached), place(h.dir, ENTRY, h.time)
      few = {}
      each(reached, low < high and first_of(low + 1) - 1 or h.time, PAGE, visit)
      for i = low + 1, high - 1 do
        local _, n, _, since = struct.unpack('<dddd', h.dir, ENTRY * i - ENTRY + 1)
        if not h.is_log or since > after then sum = sum + n end
      end
      if low < high then each(first_of(high) - 1, h.time, PAGE, visit) end
      few = nil
    end
    h.dead, h.gone = few, sum
    return sum
  end

  -- All until that end has been given back.
  local function sweep_until(ends)
    h.first = 0
    local node = turn_to(ends)
    local i = WIDTH * place(node, WIDTH, ends) + 1
    while i < #node and string.byte(node, i + 8) == 1 do i = i + WIDTH end
    if i < #node then
      h.first = double(node, i)
    elseif h.dir and ENTRY * h.turned < #h.dir then
      h.first = first_of(h.turned + 1)
    end
  end

  -- Gives back what has run out; of a log the first ones of it. Returns its state then.
  function h.sweep(key, now, limit, period, burst, a, b, c, d, e, f)
    local is_due = h.first > 0 and h.first <= h.time
    if is_due and h.is_log and a > 0 then
      local after, last, sum = cut(now, period), nil, 0
      local function give()
        if sum > 0 and last > after then back(key, now, sum, limit, period, burst, '', last, a, b, c, d, e, f) end
      end
      -- In a list they are looked for from its beginning on.
      local most = h.is_list and math.max(1, math.min(8, math.floor(30000 / a))) or 8
      sweep_until(each(h.first - 1, h.time, most, function(n, taken)
        if taken ~= last then
          give()
          last, sum = taken, 0
        end
        sum = sum + n
      end))
      give()
      a, b, c, d, e, f = look(key, now, 0, limit, period, burst, '')
      h.gone = 0
      if h.first > 0 and h.first <= h.time then h.run_out(now, period) end
    elseif is_due then
      sweep_until(h.time)
      h.gone = 0
    end
    if h.is_log and h.has_stepped then h.restamp(now) end
    return a, b, c, d, e, f
  end

  -- The clock has stepped back: a log moves what is later to now.
  function h.restamp(now)
    for i = 1, h.dir and #h.dir / ENTRY or 1 do
      local node, all = turn(i), {}
      for j = 1, #node, WIDTH do
        local taken = math.min(now, double(node, j + 19))
        all[#all + 1] = string.sub(node, j, j + 18) .. struct.pack('<d', taken) .. string.sub(node, j + 27, j + WIDTH - 1)
      end
      h.page, h.dirty = table.concat(all), true
    end
  end

  -- Nothing of what was taken until now comes back.
  function h.forget(resets, x)
    h.resets, h.x = resets, x
    close()
    local entries = {}
    for i = 1, h.dir and #h.dir or 0, ENTRY do
      local from, _, kept, since = struct.unpack('<dddd', h.dir, i)
      entries[#entries + 1] = struct.pack('<dddd', from, 0, kept, since)
    end
    h.dir = h.dir and table.concat(entries)
  end

  -- The last end of one that is open; the present time if there is none.
  function h.last_open()
    for i = h.dir and #h.dir / ENTRY or 1, 1, -1 do
      local _, sum = 0, 1
      if h.dir and i ~= h.turned then _, sum = struct.unpack('<dd', h.dir, ENTRY * i - ENTRY + 1) end
      local node = sum > 0 and turn(i) or ''
      for j = #node - WIDTH + 1, 1, -WIDTH do
        local ends, status, before = struct.unpack('<dBH', node, j)
        if ends <= h.time then return h.time end
        if status == 0 and before == h.resets then return ends end
      end
    end
    return h.time
  end

  -- Until when the first record is kept, and where that is.
  function h.first_kept()
    close()
    local node, width, offset, least, where = h.dir or h.page, h.dir and ENTRY or WIDTH, h.dir and 16 or 27, 0, 1
    for i = 1, #node / width do
      local kept = double(node, width * i - width + 1 + offset)
      if least == 0 or kept < least then least, where = kept, i end
    end
    return least, where
  end

  -- Forgets records that need not be kept any more, of some pages. What a log gives back may not be settled yet.
  function h.purge()
    for _ = 1, 4 do
      local least, where = h.first_kept()
      if least == 0 or least > h.time then return end
      local node, kept = turn(where), {}
      for i = 1, #node, WIDTH do
        local ends, status, before, _, _, kept_until = struct.unpack('<dBHddd', node, i)
        local is_open = h.is_log and status == 0 and before == h.resets and h.first > 0 and ends >= h.first
        if is_open or kept_until > h.time then kept[#kept + 1] = string.sub(node, i, i + WIDTH - 1) end
      end
      if WIDTH * #kept == #node then return end
      h.count, h.page, h.dirty, h.appends = h.count - #node / WIDTH + #kept, table.concat(kept), true, false
    end
    close()
  end

  -- The times in the answer of a log, with what has run out and is still in it, if that is not too much.
  function h.times_of_log(key, now, n, limit, period, burst, retry, reset, a, b, c, d, e, f)
    local live = a - h.gone
    if live == 0 then return retry, 0, 0 end
    if not h.dead then return retry, reset, reset end
    -- How long the i-th stamp counts that has not run out.
    local function left(i)
      local place_of, before = i, -1
      while place_of ~= before do
        before = place_of
        local wait = (answer(key, now, 0, a - 1 - place_of, period, burst, false, a, b, c, d, e, f))
        place_of = i
        for _, one in ipairs(h.dead) do
          if one[1] <= wait then place_of = place_of + one[2] end
        end
        if place_of <= before then return wait end
      end
    end
    local over = live + n - limit
    return retry and retry > 0 and over > 0 and left(over - 1) or retry, left(live > limit and live - limit or 0), left(live - 1)
  end

  return h
end
-- [/records]
