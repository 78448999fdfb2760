-- allotment: a stock that members draw from between two times. Nothing comes back by itself, other than holds that run out.
--
-- KEYS[1]  the state: a hash. Field '': little-endian, in three bytes each the permits sold and those of them on hold, as doubles
--          the stamps of the first and the last hold in the index (0 = none), the newest stamp, the time from which on the state
--          counts no more, and the first hold that is not in the index yet (0 = none). A stamp: the purchase: a byte (2 sold,
--          3 confirmed, 4 on hold), four doubles (permits, two of the chain, the length of the member), the member and the
--          request id. 'r', the length of a member, ':', the member and a request id: the stamp of that purchase.
--          'm' and a member: how many it has, and the index of its holds. 'g': the index of all holds.
--          An index is empty, a page, or a directory. A page: 'p' and at most 64 holds in order, 11 bytes each (stamp, permits).
--          A directory: 'd' and as much for each of its pages: its first stamp, its sum (that of the last is not kept).
--          These pages are fields: 'g', or 'h' and the member, then a space and that stamp.
--          Earlier versions had six doubles in '', and a chain of holds (1) by the stamps in them. Each call takes some of these
--          into the index; until then they are on hold. Those versions can't read what this one writes, and say so
-- ARGV     1 permits  2 the stock  3 how long a hold lasts in us (0: no hold)  4 the most that one member may have
--          5 now_us ('' = server TIME)  6 the member ('' = the missing one)  7 '' = take, 'look' = answer as take would, write nothing,
--          'back:<stamp_us>' = return a purchase that was not confirmed
--          8 request id ('' = none): asked again it gets the answer of the first time, and is denied with another quantity
--          9 'opens=<us>,closes=<us>' in Unix time, and ',keep' with a 'back' to confirm instead. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, until it opens, else -1), next_us, reset_us, stamp_us: of the
--          purchase, 0 for none; of a denial the reason: 1 sold out, 2 already had, 3 not open yet, 4 closed, 5 quantity}; of a
--          return allowed = something was given back, of a confirmation = it is confirmed
-- EXPIRES  a day after it closes; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/AllotmentState.java
--
-- A hold of 2^51 us is none: so long, no state lasts.
if ARGV[3] == '0' then ARGV[3] = '2251799813685248' end
-- [algorithm]
local DAY, FOREVER = 86400000000, 2251799813685248
-- How many holds one command settles of a key, and takes into its index.
local MOST, settled, indexed = 20, {}, {}

local function field(stamp) return string.format('%.0f', stamp) end

local function request_field(member, request) return 'r' .. #member .. ':' .. member .. request end

-- Each field is read once, and what a call changes is written at its end. false: there is none.
local function get(key, s, name)
  local value = s.fields[name]
  if value == nil then
    value = s.reads and redis.call('HGET', key, name)
    s.fields[name] = value
  end
  return value
end

local function put(s, name, value)
  s.fields[name], s.changed[name] = value, true
end

local function fetch(key, s, stamp)
  local raw = get(key, s, field(stamp))
  if not raw then return nil end
  local kind, n, _, after, size = struct.unpack('<Bdddd', raw)
  return {stamp = stamp, kind = kind, n = n, after = after, member = string.sub(raw, 34, 33 + size),
    request = string.sub(raw, 34 + size)}
end

local function store(s, one)
  put(s, field(one.stamp),
    struct.pack('<Bdddd', one.kind, one.n, 0, one.after, #one.member) .. one.member .. one.request)
end

-- How many a member has, and the index of its holds.
local function member_of(key, s, member)
  local had, root = string.match(get(key, s, 'm' .. member) or '0', '^(%d+)(.*)$')
  return tonumber(had), root
end

local function has_run_out(one, now, period)
  return (one.kind == 4 or one.kind == 1) and one.stamp + period <= now
end

local PAGE = 64

-- What only some calls need: functions that are not made take no time.
local made = nil
local function index()
  if made then return made end
  local function entry(node, i) return struct.unpack('<dI3', node, 11 * i - 9) end

  local function size(node) return node == '' and 0 or (#node - 1) / 11 end

  -- How many entries of a node are no later than a time.
  local function place(node, time)
    local low, high = 0, size(node)
    if high == 0 or entry(node, high) <= time then return high end
    while low < high do
      local middle = math.ceil((low + high) / 2)
      if entry(node, middle) <= time then low = middle else high = middle - 1 end
    end
    return low
  end

  local function total(node, from, to)
    local sum = 0
    for i = from, to do
      local _, n = entry(node, i)
      sum = sum + n
    end
    return sum
  end

  -- A node with another entry, or none, instead of so many from the i-th on.
  local function spliced(node, i, count, stamp, n)
    return string.sub(node, 1, 11 * i - 10) .. (n and struct.pack('<dI3', stamp, n) or '')
      .. string.sub(node, 11 * (i + count) - 9)
  end

  local function page_name(name, directory, i) return name .. ' ' .. field((entry(directory, i))) end

  -- The page with a time. If it is not the index itself, also its place in it, and its field.
  local function page(key, s, name, root, time)
    if string.byte(root) ~= 100 then return root end
    local at = math.max(1, place(root, time))
    local of = page_name(name, root, at)
    return get(key, s, of), at, of
  end

  -- The permits until a time.
  local function sum_until(key, s, name, root, time)
    local node, at = page(key, s, name, root, time)
    return total(node, 1, place(node, time)) + (at and total(root, 1, at - 1) or 0)
  end

  -- The stamp of the hold up to which there are more permits than that; nil if there are no more.
  local function beyond(key, s, node, permits)
    local count, is_directory = size(node), string.byte(node) == 100
    for i = 1, count do
      local stamp, n = entry(node, i)
      if is_directory and (permits < n or i == count) then
        return beyond(key, s, get(key, s, page_name('g', node, i)), permits)
      elseif permits < n then
        return stamp
      end
      permits = permits - n
    end
  end

  -- Notes the stamps of the first and the last hold.
  local function note_edges(key, s)
    local root = get(key, s, 'g') or ''
    local first, last = page(key, s, 'g', root, 0), page(key, s, 'g', root, 2 * FOREVER)
    s.first = first == '' and 0 or (entry(first, 1))
    if s.chain == 0 then s.last = last == '' and 0 or (entry(last, size(last))) end
  end

  -- The index with one more hold.
  local function insert(key, s, name, root, stamp, n)
    if root == '' then root = 'p' end
    local node, at, of = page(key, s, name, root, stamp)
    local i = place(node, stamp)
    node = spliced(node, i + 1, 0, stamp, n)
    if size(node) > PAGE then
      -- Most are added at the end, which leaves full pages behind.
      local kept = i == PAGE and PAGE or PAGE / 2
      local right = 'p' .. string.sub(node, 11 * kept + 2)
      local first, next_first = entry(node, 1), (entry(right, 1))
      if at then first = entry(root, at) else root, at, of = 'd', 1, name .. ' ' .. field(first) end
      node = string.sub(node, 1, 11 * kept + 1)
      root = spliced(root, at, root == 'd' and 0 or 1, first, total(node, 1, kept))
      root = spliced(root, at + 1, 0, next_first, total(right, 1, size(right)))
      put(s, name .. ' ' .. field(next_first), right)
    elseif at and at < size(root) then
      local first, sum = entry(root, at)
      root = spliced(root, at, 1, first, sum + n)
    end
    if not at then return node end
    put(s, of, node)
    return root
  end

  -- The index without so many holds of one page, from that of a stamp on. Pages with few are united, so that there are not many.
  local function remove(key, s, name, root, stamp, count)
    local node, at, of = page(key, s, name, root, stamp)
    local i = place(node, stamp)
    local n = total(node, i, i + count - 1)
    node = spliced(node, i, count)
    if not at then return #node > 1 and node or '' end
    local first, sum = entry(root, at)
    root = spliced(root, at, 1, first, math.max(0, sum - n))
    put(s, of, node)
    if size(node) <= PAGE / 4 then
      local left = math.min(at, size(root) - 1)
      local one, other = page_name(name, root, left), page_name(name, root, left + 1)
      local united, right = get(key, s, one), get(key, s, other)
      if #node == 1 or size(united) + size(right) <= PAGE * 3 / 4 then
        united = united .. string.sub(right, 2)
        put(s, other, false)
        if size(root) == 2 then
          put(s, one, false)
          return united
        end
        put(s, one, united)
        root = spliced(root, left, 2, entry(root, left), total(united, 1, size(united)))
      end
    end
    return root
  end

  -- Adds to what a member has, and changes its index by a hold.
  local function put_member(key, s, one, more, how)
    local had, root = member_of(key, s, one.member)
    had = had + more
    if how and had > 0 then root = how(key, s, 'h' .. one.member, root, one.stamp, how == insert and one.n or 1) end
    put(s, 'm' .. one.member, had > 0 and field(had) .. root)
  end

  local function put_index(key, s, how, stamp, n)
    local root = how(key, s, 'g', get(key, s, 'g') or '', stamp, n)
    put(s, 'g', root ~= '' and root)
  end

  -- Takes holds of the chain into the index, the first ones first.
  local function convert(key, s)
    local left = indexed[key] or MOST
    while s.chain > 0 and left > 0 do
      local one = fetch(key, s, s.chain)
      if one.kind == 1 then
        one.kind = 4
        put_index(key, s, insert, one.stamp, one.n)
        put_member(key, s, one, 0, insert)
        store(s, one)
      elseif one.kind == 5 then
        put(s, field(one.stamp), false)
      end
      s.chain, left = one.after, left - 1
    end
    indexed[key] = left
    note_edges(key, s)
  end

  local function forget(key, s, one, is_indexed)
    local stamp, request = field(one.stamp), request_field(one.member, one.request)
    put(s, stamp, false)
    -- The id may have come again after the hold had run out.
    if one.request ~= '' and get(key, s, request) == stamp then put(s, request, false) end
    put_member(key, s, one, -one.n, is_indexed and remove)
    s.sold = s.sold - one.n
  end

  -- Settles holds that have run out, the first ones first.
  local function sweep(key, now, period, s)
    local left = settled[key] or MOST
    while left > 0 and s.first > 0 and s.first <= now - period do
      local node = page(key, s, 'g', get(key, s, 'g'), s.first)
      local count = math.min(left, place(node, now - period))
      for i = 1, count do
        local one = fetch(key, s, (entry(node, i)))
        forget(key, s, one, true)
        s.held, s.gone = s.held - one.n, s.gone - one.n
      end
      put_index(key, s, remove, s.first, count)
      note_edges(key, s)
      left = left - count
    end
    settled[key] = left
  end

  made = {insert = insert, remove = remove, sum_until = sum_until, beyond = beyond, note_edges = note_edges,
    put_member = put_member, put_index = put_index, convert = convert, forget = forget, sweep = sweep}
  return made
end

-- The index with a hold that is later than all others.
local function append(key, s, name, root, stamp, n)
  local last, node = name, root
  if string.byte(root) == 100 then
    last = name .. ' ' .. field((struct.unpack('<d', root, #root - 10)))
    node = get(key, s, last)
  end
  if #node > 11 * PAGE then return index().insert(key, s, name, root, stamp, n) end
  node = (node == '' and 'p' or node) .. struct.pack('<dI3', stamp, n)
  if last == name then return node end
  put(s, last, node)
  return root
end

local function nothing(opens, closes)
  return {opens = opens, closes = closes, sold = 0, held = 0, first = 0, last = 0, newest = 0, ends = 0, chain = 0, gone = 0,
    had = 0, stamp = 0, fields = {}, changed = {}, reads = false, stored = false, found = false, repeated = false,
    differs = false, renewed = false, holds = false}
end
