-- allotment: a stock that members draw from between two times. Nothing comes back by itself, other than holds that run out.
--
-- KEYS[1]  the state: a hash. Field '': little-endian, in three bytes each the permits sold and those of them on hold, as doubles
--          the stamps of the first and the last hold in the index (0 = none), the newest stamp, the time from which on the state
--          counts no more, and the first hold that is not in the index yet (0 = none). A stamp: the purchase: a byte (2 sold,
--          3 confirmed, 4 on hold), four doubles (permits, two of the chain, the length of the member), the member and the
--          request id. 'r', the length of a member, ':', the member and a request id: the stamp of that purchase.
--          'm' and a member: how many it has, and the index of its holds. 'g': the index of all holds.
--          Both as in ends_index.lua, with 11 bytes each (stamp, permits).
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
  local of = ends_index(get, put, '<dI3', 11)
  local entry, size, place, page, insert, remove = of.entry, of.size, of.place, of.page, of.insert, of.remove

  -- The stamp of the hold up to which there are more permits than that; nil if there are no more.
  local function beyond(key, s, node, permits)
    local count, is_directory = size(node), string.byte(node) == 100
    for i = 1, count do
      local stamp, n = entry(node, i)
      if is_directory and (permits < n or i == count) then
        return beyond(key, s, get(key, s, of.page_name('g', node, i)), permits)
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

  made = {insert = insert, remove = remove, sum_until = of.sum_until, beyond = beyond, note_edges = note_edges,
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
