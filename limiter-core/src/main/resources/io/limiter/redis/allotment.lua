-- allotment: a stock that members draw from between two times. Nothing comes back by itself, other than holds that run out.
--
-- KEYS[1]  the state: a hash. Field '': little-endian, of three bytes permits sold and those of them on hold, and as doubles the
--          stamps of the oldest and the newest hold in the index (0 = none), the newest stamp, the time from which on the state
--          counts no more, and the oldest hold that is not in the index yet. 'm' and a member: how many it has.
--          'r', the length of a member, ':', the member and a request id: the stamp of that purchase. A stamp: the
--          purchase: a byte (2 sold, 3 confirmed, 4 on hold), four doubles (permits, two of the chain, the length of the
--          member), the member and the request id. 'g': the index of the holds; 'h' and a member: that of its holds. An index
--          is a page, 'p' and entries of 11 bytes (stamp, permits) in order; or a directory, 'd' and such an entry for
--          each page, of its first stamp and its sum (the last one's sum is not kept), and the pages are in fields of their own
--          An earlier version had six doubles in '' and a chain of holds (1) by their stamps; each call takes some of these
--          into the index, and until then they are on hold. That version can't read what this one writes, and says so
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
local CHAINED, SOLD, CONFIRMED, HELD, RETURNED = 1, 2, 3, 4, 5
local SOLD_OUT, ALREADY_HAD, NOT_OPEN, CLOSED, QUANTITY = 1, 2, 3, 4, 5
-- Entries of a page; holds that one command settles of a key, and takes into its index.
local PAGE, MOST = 64, 64
local PACKED = '<I3I3ddddd'
local settled, indexed = {}, {}

local function field(stamp) return string.format('%.0f', stamp) end

local function request_field(member, request) return 'r' .. #member .. ':' .. member .. request end

-- Each field is read once, and what a call changes is written at its end. false: there is none.
local function get(key, s, name)
  local value = s.fields[name]
  if value == nil then
    value = redis.call('HGET', key, name)
    s.fields[name] = value
  end
  return value
end

local function put(s, name, value)
  s.fields[name], s.changed[name] = value, true
end

local NOTHING = {__index = function() return false end}

local function begin_with_nothing(s)
  s.sold, s.held, s.first, s.last, s.newest, s.ends, s.chain, s.gone, s.had = 0, 0, 0, 0, 0, 0, 0, 0, 0
  s.fields, s.changed = setmetatable({}, NOTHING), {}
end

local function fetch(key, s, stamp)
  local raw = get(key, s, field(stamp))
  if not raw then return nil end
  local one = {stamp = stamp}
  one.kind, one.n, one.before, one.after, one.size = struct.unpack('<Bdddd', raw)
  one.member, one.request = string.sub(raw, 34, 33 + one.size), string.sub(raw, 34 + one.size)
  return one
end

local function store(s, one)
  put(s, field(one.stamp),
    struct.pack('<Bdddd', one.kind, one.n, 0, one.after, #one.member) .. one.member .. one.request)
end

local function entry(node, i) return struct.unpack('<dI3', node, 11 * i - 9) end

local function packed(stamp, n) return struct.pack('<dI3', stamp, n) end

local function size(node) return (#node - 1) / 11 end

local function is_directory(node) return string.byte(node) == 100 end

-- How many entries of a node are no later than a time.
local function place(node, time)
  local low, high = 0, size(node)
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

-- A node with other entries instead of so many from the i-th on.
local function spliced(node, i, count, entries)
  return string.sub(node, 1, 11 * i - 10) .. entries .. string.sub(node, 11 * (i + count) - 9)
end

local function page_name(name, directory, i) return name .. ' ' .. field((entry(directory, i))) end

-- The page with a time, its field, and where there is a directory this and the page's place in it.
local function page(key, s, name, time)
  local root = get(key, s, name) or 'p'
  if not is_directory(root) then return root, name end
  local at = math.max(1, place(root, time))
  local of = page_name(name, root, at)
  return get(key, s, of), of, root, at
end

-- The permits of an index until a time.
local function sum_until(key, s, name, time)
  local node, _, root, at = page(key, s, name, time)
  return total(node, 1, place(node, time)) + (root and total(root, 1, at - 1) or 0)
end

-- The stamp of the hold up to which a node has more than so many permits; nil if it has no more.
local function beyond(key, s, node, permits)
  local directory, count = is_directory(node), size(node)
  for i = 1, count do
    local stamp, n = entry(node, i)
    if directory and (permits < n or i == count) then
      return beyond(key, s, get(key, s, page_name('g', node, i)), permits)
    elseif permits < n then
      return stamp
    end
    permits = permits - n
  end
end

-- The stamp of the first hold of the index, or of the last one; 0 if there is none.
local function edge(key, s, is_last)
  local node = page(key, s, 'g', is_last and FOREVER * 2 or 0)
  return #node > 1 and entry(node, is_last and size(node) or 1) or 0
end

local function insert(key, s, name, stamp, n)
  local node, of, root, at = page(key, s, name, stamp)
  local i = place(node, stamp)
  node = spliced(node, i + 1, 0, packed(stamp, n))
  if size(node) > PAGE then
    -- Most are added at the end, which leaves full pages behind.
    local kept = i == PAGE and PAGE or PAGE / 2
    local right = 'p' .. string.sub(node, 11 * kept + 2)
    node = string.sub(node, 1, 11 * kept + 1)
    if not root then
      root, at = 'd' .. packed(entry(node, 1), 0), 1
      of = page_name(name, root, 1)
    end
    local first = entry(right, 1)
    root = spliced(root, at, 1, packed(entry(root, at), total(node, 1, kept)) .. packed(first, total(right, 1, size(right))))
    put(s, name, root)
    put(s, name .. ' ' .. field(first), right)
  elseif root and at < size(root) then
    local first, sum = entry(root, at)
    put(s, name, spliced(root, at, 1, packed(first, sum + n)))
  end
  put(s, of, node)
end

-- Removes so many entries of one page, from that of a stamp on. Pages with few are united, so that there are not many.
local function remove(key, s, name, stamp, count)
  local node, of, root, at = page(key, s, name, stamp)
  local i = place(node, stamp)
  local n = total(node, i, i + count - 1)
  node = spliced(node, i, count, '')
  put(s, of, #node > 1 and node)
  if not root then return end
  local first, sum = entry(root, at)
  root = spliced(root, at, 1, packed(first, math.max(0, sum - n)))
  if size(node) <= PAGE / 4 then
    local left = math.min(at, size(root) - 1)
    local one, other = page_name(name, root, left), page_name(name, root, left + 1)
    local united = (one == of and node or get(key, s, one)) .. string.sub(other == of and node or get(key, s, other), 2)
    if #node == 1 or size(united) <= PAGE * 3 / 4 then
      put(s, other, false)
      root = spliced(root, left, 2, packed(entry(root, left), total(united, 1, size(united))))
      if size(root) == 1 then
        put(s, one, false)
        root = united
      else
        put(s, one, united)
      end
    end
  end
  put(s, name, root)
end

local function has_run_out(one, now, period)
  return (one.kind == HELD or one.kind == CHAINED) and one.stamp + period <= now
end

local function hold(key, s, one)
  insert(key, s, 'g', one.stamp, one.n)
  insert(key, s, 'h' .. one.member, one.stamp, one.n)
end

-- Takes holds of the chain, the oldest first, into the index, and so each call sees more of those that have run out.
local function convert(key, s)
  local left = indexed[key] or MOST
  while s.chain > 0 and left > 0 do
    local one = fetch(key, s, s.chain)
    if one.kind == CHAINED then
      one.kind = HELD
      hold(key, s, one)
      store(s, one)
    elseif one.kind == RETURNED then
      put(s, field(one.stamp), false)
    end
    s.chain, left = one.after, left - 1
  end
  indexed[key], s.first = left, edge(key, s)
  if s.chain == 0 then s.last = edge(key, s, true) end
end

-- The state: a table. Of what is sold, gone has run out and is not settled yet. Where the call is denied it has the reason,
-- where it repeats a purchase that one.
local function look(key, now, n, _, period, burst, id, request, options)
  local opens = tonumber(string.match(options, 'opens=(%d+)') or 0)
  local closes = tonumber(string.match(options, 'closes=(%d+)') or 2 * FOREVER - DAY)
  local s = {opens = opens, closes = closes, stamp = 0}
  begin_with_nothing(s)
  local raw = redis.call('HGET', key, '')
  if not raw then return s end
  local sold, held, first, last, newest, ends, chain
  if #raw == 46 then
    sold, held, first, last, newest, ends, chain = struct.unpack(PACKED, raw)
  else
    sold, held, chain, last, newest, ends = struct.unpack('<dddddd', raw)
    first = 0
  end
  s.found, s.stored = true, ends > now
  if not s.stored then return s end
  s.sold, s.held, s.first, s.last, s.newest, s.ends, s.chain, s.fields = sold, held, first, last, newest, ends, chain, {}
  if chain > 0 then convert(key, s) end
  s.had = tonumber(get(key, s, 'm' .. id) or 0)
  local time = now - period
  if s.first > 0 and s.first <= time then
    s.gone = sum_until(key, s, 'g', time)
    s.had = s.had - sum_until(key, s, 'h' .. id, time)
  end
  if n > 0 and request ~= '' then
    local stamp = tonumber(get(key, s, request_field(id, request)) or '')
    local one = stamp and fetch(key, s, stamp)
    if one and not has_run_out(one, now, period) then
      if one.n == n then s.stamp, s.repeated = stamp, true else s.differs = true end
    end
  end
  return s
end

local function reason(now, n, limit, burst, s)
  if n > burst or s.differs then return QUANTITY end
  if now >= s.closes then return CLOSED end
  if s.had + n > burst then return ALREADY_HAD end
  if s.sold - s.gone + n > limit then return SOLD_OUT end
  return now < s.opens and NOT_OPEN or nil
end

local function charge(now, n, limit, period, burst, s)
  if not s.repeated and reason(now, n, limit, burst, s) then return nil end
  local after = {}
  for name, value in pairs(s) do after[name] = value end
  if not s.repeated and s.sold == s.gone then begin_with_nothing(after) end
  local ends = math.max(after.ends, s.closes + DAY)
  after.renewed, after.ends = ends > after.ends, ends
  if s.repeated then return after end
  after.stamp = math.max(now, after.newest + 1)
  after.sold, after.newest = after.sold + n, after.stamp
  if period < FOREVER then
    after.held, after.last, after.holds = after.held + n, after.stamp, true
    if after.first == 0 then after.first = after.stamp end
  end
  return after
end

local function forget_all(key)
  -- An error: a user who may not, as documented for earlier versions.
  if type(redis.pcall('UNLINK', key)) ~= 'number' then redis.call('DEL', key) end
end

local function forget(key, s, one)
  local stamp, request, member = field(one.stamp), request_field(one.member, one.request), 'm' .. one.member
  put(s, stamp, false)
  -- The id may have come again after the hold had run out.
  if one.request ~= '' and get(key, s, request) == stamp then put(s, request, false) end
  local had = get(key, s, member) - one.n
  put(s, member, had > 0 and field(had))
  s.sold = s.sold - one.n
end

-- Settles holds that have run out, the oldest first.
local function sweep(key, now, period, s)
  local left = settled[key] or MOST
  while left > 0 and s.first > 0 and s.first <= now - period do
    local node = page(key, s, 'g', s.first)
    local count = math.min(left, place(node, now - period))
    for i = 1, count do
      local one = fetch(key, s, (entry(node, i)))
      forget(key, s, one)
      remove(key, s, 'h' .. one.member, one.stamp, 1)
      s.held, s.gone = s.held - one.n, s.gone - one.n
    end
    remove(key, s, 'g', s.first, count)
    s.first, left = edge(key, s), left - count
  end
  if s.first == 0 and s.chain == 0 then s.last = 0 end
  settled[key] = left
end

local function save(key, now, s)
  put(s, '', struct.pack(PACKED, s.sold, s.held, s.first, s.last, s.newest, s.ends, s.chain))
  local set, gone = {}, {}
  for name in pairs(s.changed) do
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
local function settle(key, now, _, _, period, _, _, s)
  if not s.stored then return s end
  if s.sold == s.gone then
    forget_all(key)
    begin_with_nothing(s)
    return s
  end
  sweep(key, now, period, s)
  local ends = math.max(s.ends, s.closes + DAY)
  if s.renewed or ends > s.ends or next(s.changed) then
    s.ends = ends
    save(key, now, s)
  end
  return s
end

local function write(key, now, n, _, period, _, id, s, _, _, _, _, _, request)
  if s.repeated then return settle(key, now, n, 0, period, 0, id, s) end
  -- All that it had has run out, or is over.
  if s.found and s.sold == n then forget_all(key) end
  local one = {stamp = s.stamp, kind = s.holds and HELD or SOLD, n = n, after = 0, member = id, request = request}
  store(s, one)
  put(s, 'm' .. id, field((get(key, s, 'm' .. id) or 0) + n))
  if request ~= '' then put(s, request_field(id, request), field(s.stamp)) end
  if s.holds then hold(key, s, one) end
  sweep(key, now, period, s)
  save(key, now, s)
  return s
end

-- A purchase is on hold no more.
local function release(key, s, one)
  s.held = s.held - one.n
  if one.kind == CHAINED then return end
  remove(key, s, 'g', one.stamp, 1)
  remove(key, s, 'h' .. one.member, one.stamp, 1)
  if one.stamp == s.first then s.first = edge(key, s) end
  if one.stamp == s.last and s.chain == 0 then s.last = edge(key, s, true) end
end

local function back(key, now, _, _, period, _, id, stamp, s, _, _, _, _, _, _, options)
  local keeps = string.find(options, 'keep', 1, true)
  local one = s.stored and fetch(key, s, stamp)
  if not one or one.member ~= id or one.kind == RETURNED or has_run_out(one, now, period)
    or one.kind == CONFIRMED and not keeps then
    return false, s
  end
  local is_chained = one.kind == CHAINED
  if one.kind == HELD or is_chained then release(key, s, one) end
  if not keeps then forget(key, s, one) end
  if keeps or is_chained then
    one.kind = keeps and CONFIRMED or RETURNED
    store(s, one)
  end
  s.renewed = true
  return true, settle(key, now, 0, 0, period, 0, id, s)
end

local function answer(key, now, n, limit, period, burst, allowed, s)
  local next_us, reset, sold = 0, 0, s.sold - s.gone
  if sold > 0 then
    -- A hold that runs out gives more only when no more than the stock is sold then, which may have been made smaller.
    local over, at = math.max(0, sold - limit), s.first
    if s.gone + over > 0 then
      at = beyond(key, s, get(key, s, 'g') or 'p', s.gone + over) or s.held - s.gone > over and s.last or 0
    end
    if s.chain > 0 then at = math.max(now - period + 1, at > 0 and math.min(at, s.chain) or s.chain) end
    next_us = (at > 0 and math.min(s.ends, at + period) or s.ends) - now
    reset = (s.held - s.gone == sold and math.min(s.ends, math.max(now + 1, s.last + period)) or s.ends) - now
  end
  local why = not allowed and n > 0 and reason(now, n, limit, burst, s)
  return why == NOT_OPEN and s.opens - now or -1, sold < limit and limit - sold or 0, next_us, reset, why or s.stamp
end
-- [/algorithm]

-- [call] The same lines in every algorithm file: one call, read from KEYS and ARGV. The up to six values a to f are the state, as look
-- returns it; each algorithm has its own names for them.
local number = tonumber
local key, n, limit, period, burst = KEYS[1], number(ARGV[1]), number(ARGV[2]), number(ARGV[3]), number(ARGV[4])
local max = 9007199254740991
if not (key and n and limit and period and burst and n >= 0 and n <= max and limit >= 0 and limit <= max and period > 0
    and period <= max and burst >= 0 and burst <= max and n % 1 + limit % 1 + period % 1 + burst % 1 == 0) then
  return redis.error_reply('ERR limiter: KEYS must be 1 key and ARGV[1..4] whole numbers: permits, limit, period_us'
    .. ' (at least 1), burst')
end
local now, id, mode = ARGV[5] or '', ARGV[6] or '', ARGV[7] or ''
if now == '' then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
else
  now = number(now)
  if not (now and now >= 0 and now <= max and now % 1 == 0) then
    return redis.error_reply("ERR limiter: ARGV[5] must be '' or a whole number: now_us")
  end
end
local request, options = ARGV[8] or '', ARGV[9] or ''
local take, stamp = mode == '', nil
if not take and mode ~= 'look' then
  stamp = number(string.match(mode, '^back:(%d+)$') or '')
  if not stamp then return redis.error_reply("ERR limiter: ARGV[7] must be '', 'look' or 'back:<stamp_us>'") end
end
if limit == 0 then
  return {n == 0 and not stamp and 1 or 0, 0, (n == 0 or stamp) and 0 or -1, 0, 0, now}
end
local a, b, c, d, e, f = look(key, now, n, limit, period, burst, id, request, options)
local allowed = n == 0
if stamp then
  allowed = false
  if n > 0 then
    allowed, a, b, c, d, e, f = back(key, now, n, limit, period, burst, id, stamp, a, b, c, d, e, f, request, options)
  end
elseif n > 0 then
  local g, h, i, j, k, l = charge(now, n, limit, period, burst, a, b, c, d, e, f, options)
  if g then
    allowed, a, b, c, d, e, f = true, g, h, i, j, k, l
    if take then a, b, c, d, e, f = write(key, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options) end
  elseif take then
    -- A denied call takes nothing, but the times in its answer hold only if a clock that stepped back, or a changed limit,
    -- applies from now on.
    a, b, c, d, e, f = settle(key, now, n, limit, period, burst, id, a, b, c, d, e, f, request, options)
  end
end
local retry, remaining, next_us, reset, used = answer(key, now, n, limit, period, burst, allowed, a, b, c, d, e, f, options)
return {allowed and 1 or 0, remaining, (allowed or stamp) and 0 or retry, next_us, reset, used}
