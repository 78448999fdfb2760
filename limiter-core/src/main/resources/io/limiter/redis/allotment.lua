-- allotment: a stock that members draw from between two times. Nothing comes back by itself, other than holds that run
-- out.
--
-- KEYS[1]  the state: a hash. Field '': little-endian, in three bytes each the permits sold and those of them on hold;
--          as doubles the stamps of the first and the last hold (0 = none), the newest stamp, and the time from which
--          on the state counts no more. A stamp: the purchase: a byte (2 sold, 3 confirmed, 4 on hold), two doubles
--          (permits, the length of the member), the member and the request id. 'r', the length of a member, ':', the
--          member and a request id: the stamp of that purchase. 'm' and a member: how many it has, and the index of its
--          holds. 'g': the index of all holds. Both as in ends_index.lua, with 11 bytes each (stamp, permits)
-- ARGV     1 permits  2 the stock  3 how long a hold lasts in us (0: no hold)  4 the most that one member may have 5
--          now_us ('' = server TIME)  6 the member ('' = the missing one)  7 '' = take, 'look' = answer as take would,
--          write nothing, 'back:<stamp_us>' = return a purchase that was not confirmed 8 request id ('' = none): asked
--          again it gets the answer of the first time, and is denied with another quantity 9 'opens=<us>,closes=<us>'
--          in Unix time, and ',keep' with a 'back' to confirm instead. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, until it opens, else -1), next_us, reset_us, stamp_us:
--          of the purchase, 0 for none; of a denial the reason: 1 sold out, 2 already had, 3 not open yet, 4 closed, 5
--          quantity}; of a return allowed = something was given back, of a confirmation = it is confirmed
-- EXPIRES  a day after it closes; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/AllotmentState.java
--
-- A hold of 2^51 us is none: so long, no state lasts.
if ARGV[3] == '0' then ARGV[3] = '2251799813685248' end
-- [algorithm]
local DAY, FOREVER = 86400000000, 2251799813685248
-- How many holds one command settles of a key.
local MOST, settled = 20, {}

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
  s.fields[name], s.dirty[name] = value, true
end

local function fetch(key, s, stamp)
  local raw = get(key, s, field(stamp))
  if not raw then return nil end
  local kind, n, size = struct.unpack('<Bdd', raw)
  return {stamp = stamp, kind = kind, n = n, member = string.sub(raw, 18, 17 + size),
    request = string.sub(raw, 18 + size)}
end

local function store(s, one)
  put(s, field(one.stamp),
    struct.pack('<Bdd', one.kind, one.n, #one.member) .. one.member .. one.request)
end

-- How many a member has, and the index of its holds.
local function member_of(key, s, member)
  local had, root = string.match(get(key, s, 'm' .. member) or '0', '^(%d+)(.*)$')
  return tonumber(had), root
end

local function has_run_out(one, now, period)
  return one.kind == 4 and one.stamp + period <= now
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
    s.last = last == '' and 0 or (entry(last, size(last)))
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
    put_member = put_member, put_index = put_index, forget = forget, sweep = sweep}
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
  return {opens = opens, closes = closes, sold = 0, held = 0, first = 0, last = 0, newest = 0, ends = 0, gone = 0,

    had = 0, stamp = 0, fields = {}, dirty = {}, reads = false, stored = false, found = false, repeated = false,
    differs = false, renewed = false, holds = false}
end

-- Becomes another state.
local function become(s, other)
  for name in pairs(s) do s[name] = nil end
  for name, value in pairs(other) do s[name] = value end
end

-- The state: a table. Of what is sold, gone has run out and is not settled yet. Where the call is denied it has the
-- reason,
-- where it repeats a purchase that one.
local function look(c, s)
  s = s or {}
  local key, now, n, period, id, request, options = c.key, c.now, c.n, c.period, c.id, (c.request or ARGV[8] or ''), c.options
  local opens, closes = string.match(options, '^opens=(%d+),closes=(%d+)')
  become(s, nothing(tonumber(opens or 0), tonumber(closes or 2 * FOREVER - DAY)))
  local raw = redis.call('HGET', key, '')
  if not raw then return s end
  local sold, held, first, last, newest, ends = struct.unpack('<I3I3dddd', raw)
  s.found = true
  if ends <= now then return s end
  s.sold, s.held, s.first, s.last, s.newest, s.ends = sold, held, first, last, newest, ends
  -- What has run out is settled also by a call that is denied.
  s.reads, s.stored, s.changed = true, true, true
  local had, root = member_of(key, s, id)
  local time = now - period
  if s.first > 0 and s.first <= time then
    local sum_until = index().sum_until
    s.gone = sum_until(key, s, 'g', get(key, s, 'g'), time)
    had = had - sum_until(key, s, 'h' .. id, root, time)
  end
  s.had = had
  if n > 0 and request ~= '' then
    local stamp = tonumber(get(key, s, request_field(id, request)) or '')
    local one = stamp and fetch(key, s, stamp)
    if one and not has_run_out(one, now, period) then
      if one.n == n then s.stamp, s.repeated = stamp, true else s.differs = true end
    end
  end
  return s
end

local function reason(c, s)
  local SOLD_OUT, ALREADY_HAD, NOT_OPEN, CLOSED, QUANTITY = 1, 2, 3, 4, 5
  if c.n > c.burst or s.differs then return QUANTITY end
  if c.now >= s.closes then return CLOSED end
  if s.had + c.n > c.burst then return ALREADY_HAD end
  if s.sold - s.gone + c.n > c.limit then return SOLD_OUT end
  return c.now < s.opens and NOT_OPEN or nil
end

local function admits(c, s) return s.repeated or not reason(c, s) end

local function take(c, s)
  if not s.repeated and s.sold == s.gone then
    local found = s.found
    become(s, nothing(s.opens, s.closes))
    s.found = found
  end
  local ends = math.max(s.ends, s.closes + DAY)
  s.taken, s.changed, s.renewed, s.ends = true, true, ends > s.ends, ends
  if s.repeated then return end
  local stamp = math.max(c.now, s.newest + 1)
  s.stamp, s.newest, s.sold, s.holds = stamp, stamp, s.sold + c.n, c.period < FOREVER
  if s.holds then
    s.held, s.last = s.held + c.n, stamp
    if s.first == 0 then s.first = stamp end
  end
end

local function forget_all(key)
  -- An error: a user who may not, as documented for earlier versions.
  if type(redis.pcall('UNLINK', key)) ~= 'number' then redis.call('DEL', key) end
end

local function save(key, now, s)
  put(s, '', struct.pack('<I3I3dddd', s.sold, s.held, s.first, s.last, s.newest, s.ends))
  local set, gone = {}, {}
  for name in pairs(s.dirty) do
    local value = s.fields[name]
    if value then
      set[#set + 1], set[#set + 2] = name, value
    else
      gone[#gone + 1] = name
    end
  end
  redis.call('HSET', key, unpack(set))
  if #gone > 0 then redis.call('HDEL', key, unpack(gone)) end
  redis.call('PEXPIRE', key, math.ceil((s.ends - now) / 1000))
end

-- Writes what the state is with fewer of the holds that have run out, to be kept as long as it closes now.
local function settle(c, s)
  if not s.stored then return end
  if s.sold == s.gone then
    forget_all(c.key)
    become(s, nothing(s.opens, s.closes))
    return
  end
  if s.first > 0 and s.first <= c.now - c.period then index().sweep(c.key, c.now, c.period, s) end
  local ends = math.max(s.ends, s.closes + DAY)
  if s.renewed or ends > s.ends or next(s.dirty) then
    s.ends = ends
    save(c.key, c.now, s)
  end
end

local function write(c, s)
  if not s.taken or s.repeated then return settle(c, s) end
  local key, id, now, period = c.key, c.id, c.now, c.period
  -- All that it had has run out, or is over.
  if s.found and not s.stored then forget_all(key) end
  local one = {stamp = s.stamp, kind = s.holds and 4 or 2, n = c.n, member = id, request = (c.request or ARGV[8] or '')}
  store(s, one)
  if (c.request or ARGV[8] or '') ~= '' then put(s, request_field(id, (c.request or ARGV[8] or '')), field(s.stamp)) end
  local had, root = member_of(key, s, id)
  if s.holds then
    put(s, 'g', append(key, s, 'g', get(key, s, 'g') or '', s.stamp, c.n))
    root = append(key, s, 'h' .. id, root, s.stamp, c.n)
  end
  put(s, 'm' .. id, field(had + c.n) .. root)
  if s.first > 0 and s.first <= now - period then index().sweep(key, now, period, s) end
  save(key, now, s)
end

local function back(c, s, stamp)
  local key, now, period, id = c.key, c.now, c.period, c.id
  local keeps = string.find(c.options, 'keep', 1, true)
  local one = s.stored and fetch(key, s, stamp)
  if not one or one.member ~= id or has_run_out(one, now, period) or one.kind == 3 and not keeps then
    s.changed = false
    return false
  end
  local of, is_indexed = index(), one.kind == 4
  if is_indexed then
    s.held = s.held - one.n
    of.put_index(key, s, of.remove, stamp, 1)
    if stamp == s.first or stamp == s.last then of.note_edges(key, s) end
  end
  if not keeps then
    of.forget(key, s, one, is_indexed)
  elseif is_indexed then
    of.put_member(key, s, one, 0, of.remove)
  end
  if keeps then
    one.kind = 3
    store(s, one)
  end
  s.renewed, s.changed = true, true
  return true
end

local function answer(c, s, allowed)
  local key, now, limit, period = c.key, c.now, c.limit, c.period
  local next_us, reset, sold = 0, 0, s.sold - s.gone
  if sold > 0 then
    -- A hold that runs out gives more only when no more than the stock is sold then, which may have been made smaller.
    local over, at = math.max(0, sold - limit), s.first
    if s.gone + over > 0 then
      at = index().beyond(key, s, get(key, s, 'g') or '', s.gone + over) or s.held - s.gone > over and s.last or 0
    end
    next_us = (at > 0 and math.min(s.ends, at + period) or s.ends) - now
    reset = (s.held - s.gone == sold and math.min(s.ends, math.max(now + 1, s.last + period)) or s.ends) - now
  end
  local why = not allowed and c.n > 0 and reason(c, s)
  return why == 3 and s.opens - now or -1, sold < limit and limit - sold or 0, next_us, reset, why or s.stamp
end
-- [/algorithm]
