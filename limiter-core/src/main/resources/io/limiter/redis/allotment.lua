-- allotment: a stock that members draw from between two times. Nothing comes back by itself, other than what was bought
-- on hold and has run out.
--
-- KEYS[1]  the state: a hash. Field '': four little-endian doubles: permits sold for good, those on hold, the newest
--          stamp, and the time from which on the state counts no more. 'm' and a member: its permits for good. A stamp
--          in 16 digits: the purchase: 'held', 'sold' (without a hold) or 'paid' (confirmed), its permits, member and
--          request id. 'r', a member, a space and a request id: the stamp of that purchase. No member has a space in it
-- KEYS[2]  what is on hold: a sorted set in the order of its entries, all scored 0, two for each permit: by time
--          't<stamp>:<number> <member>' and by member 'm<member> <stamp>:<number>'
-- ARGV     1 permits  2 the stock  3 how long a hold lasts in us (2^51: no hold)  4 the most that one member may have
--          5 now_us ('' = server TIME)  6 the member ('' = the missing one)  7 '' = take, 'look' = answer as take
--          would, write nothing, 'back:<stamp_us>' = return a purchase that was not confirmed  8 request id ('' =
--          none): asked again it gets the answer of the first time, and is denied with another quantity
--          9 'opens=<us>,closes=<us>' in Unix time, and ',keep' with a 'back' to confirm. 5 to 9 may be left out
-- RETURNS  {allowed 0|1, remaining, retry_after_us (0 allowed, until it opens, else -1), next_us, reset_us, stamp_us:
--          of the purchase, 0 for none; of a denial the reason: 1 sold out, 2 already had, 3 not open yet, 4 closed,
--          5 quantity}; of a return allowed = something was given back, of a confirmation = it is confirmed
-- EXPIRES  a day after it closes; a stale key decides like an absent one
-- TWIN     io/limiter/inprocess/AllotmentState.java
-- [algorithm]
-- tidied: the keys that this command has tidied; once is enough.
local DAY, NO_HOLD, tidied = 86400000000, 2251799813685248, {}

local function request_field(member, request) return 'r' .. member .. ' ' .. request end

-- A stamp as text, in the order of time.
local function digits(stamp) return string.format('%016.0f', math.max(0, stamp)) end

-- Each field is read once, and what a call changes is written at its end. '': there is none.
local function get(c, s, field)
  local value = s.values[field] or redis.call('HGET', c.key, field) or ''
  s.values[field] = value
  return value
end

local function put(s, field, value) s.values[field], s.dirty[field] = value, true end

local function put_kept(c, s, more)
  put(s, 'm' .. c.id, (tonumber(get(c, s, 'm' .. c.id)) or 0) + more)
end

-- The purchase with a stamp; nil if there is none, or it has run out.
local function purchase_of(c, s, stamp)
  local kind, n, member, request = string.match(get(c, s, stamp), '^(%l+) (%d+) (%S*) (.*)$')
  if not kind or kind == 'held' and tonumber(stamp) < s.alive then return nil end
  return {kind = kind, n = tonumber(n), member = member, request = request}
end

-- What is sold for good, on hold (by this call: fresh; from which stamp on: alive), on hold although it has run out
-- (gone); what this member has had; of a request id that is known, the purchase's stamp and permits; whether this call
-- buys, which fields it has read, and which it has changed.
local function look(c)
  local opens, closes = string.match(c.options, '^opens=(%d+),closes=(%d+)')
  local s = {opens = tonumber(opens or 0), closes = tonumber(closes or 2 * NO_HOLD - DAY), kept = 0, held = 0,
    alive = c.now - c.period + 1, fresh = 0, gone = 0, newest = 0, ends = 0, stored = 0, had = 0, stamp = 0, known = 0,
    buys = false, values = {}, dirty = {}, changed = false}
  c.records, c.request = c.records or KEYS[2], c.request or ARGV[8] or ''
  local raw = redis.call('HGET', c.key, '')
  if not raw then return s end
  local kept, held, newest, ends = struct.unpack('<dddd', raw)
  if ends <= c.now then return s end
  s.had = tonumber(get(c, s, 'm' .. c.id)) or 0
  if held > 0 then
    s.gone = redis.call('ZLEXCOUNT', c.records, '[t', '(t' .. digits(s.alive))
    s.had = s.had + redis.call('ZLEXCOUNT', c.records, '[m' .. c.id .. ' ' .. digits(s.alive), '(m' .. c.id .. '!')
  end
  s.kept, s.held, s.newest, s.ends, s.stored = kept, held - s.gone, newest, ends, ends
  -- Also a call that is denied forgets what has run out, and keeps the rest for as long as the limit says now.
  s.changed = s.gone > 0 or ends < s.closes + DAY
  local stamp = c.n > 0 and c.request ~= '' and get(c, s, request_field(c.id, c.request)) or ''
  local one = stamp ~= '' and purchase_of(c, s, stamp)
  if one then s.stamp, s.known = one.n == c.n and tonumber(stamp) or 0, one.n end
  return s
end

local function reason(c, s)
  local SOLD_OUT, ALREADY_HAD, NOT_OPEN, CLOSED, QUANTITY = 1, 2, 3, 4, 5
  if c.n > c.burst or s.known > 0 then return QUANTITY end
  if c.now >= s.closes then return CLOSED end
  if s.had + c.n > c.burst then return ALREADY_HAD end
  if s.kept + s.held + c.n > c.limit then return SOLD_OUT end
  return c.now < s.opens and NOT_OPEN or nil
end

local function admits(c, s) return s.known == c.n or not reason(c, s) end

local function take(c, s)
  if s.known == 0 then
    if s.kept + s.held == 0 then s.newest, s.ends = 0, 0 end
    s.newest = math.max(c.now, s.newest + 1)
    s.stamp, s.buys, s.changed = s.newest, true, true
    s.fresh = c.period < NO_HOLD and c.n or 0
    s.held, s.kept = s.held + s.fresh, s.kept + c.n - s.fresh
  end
  s.ends = math.max(s.ends, s.closes + DAY)
end

local function forget(c, s, stamp, member, request)
  put(s, stamp, '')
  local field = request_field(member, request)
  -- The id may have come again after this one had run out.
  if request ~= '' and get(c, s, field) == stamp then put(s, field, '') end
end

-- Forgets a portion of what has run out, the oldest first; a purchase with its first permit.
local function tidy(c, s)
  local permits = redis.call('ZRANGEBYLEX', c.records, '[t', '(t' .. digits(s.alive), 'LIMIT', '0', '50')
  s.gone, tidied[c.key] = s.gone - #permits, true
  for i = 1, #permits do
    local stamp, number, member = string.match(permits[i], '^t(%d+):(%d+) (.*)$')
    permits[#permits + 1] = 'm' .. member .. ' ' .. stamp .. ':' .. number
    forget(c, s, stamp, member, string.match(get(c, s, stamp), '^%l+ %d+ %S* (.*)$') or '')
  end
  redis.call('ZREM', c.records, unpack(permits))
end

local function add(c, s)
  local stamp, entries, size = digits(s.stamp), {}, 0
  put(s, stamp, table.concat({s.fresh > 0 and 'held' or 'sold', c.n, c.id, c.request}, ' '))
  if c.request ~= '' then put(s, request_field(c.id, c.request), stamp) end
  if s.fresh == 0 then return put_kept(c, s, c.n) end
  for i = 1, c.n do
    local permit = stamp .. ':' .. i
    entries[size + 1], entries[size + 2] = '0', 't' .. permit .. ' ' .. c.id
    entries[size + 3], entries[size + 4] = '0', 'm' .. c.id .. ' ' .. permit
    size = size + 4
    if size == 4000 or i == c.n then
      redis.call('ZADD', c.records, unpack(entries))
      entries, size = {}, 0
    end
  end
end

local function write(c, s)
  if s.kept + s.held == (s.buys and c.n or 0) then
    -- Nothing that was there counts.
    redis.call('UNLINK', c.key, c.records)
    s.gone, s.stored, s.values, s.dirty = 0, 0, {}, {}
    if not s.buys then return end
  end
  if s.gone > 0 and not tidied[c.key] then tidy(c, s) end
  if s.buys then add(c, s) end
  s.ends = math.max(s.ends, s.closes + DAY)
  local set, gone = {'', struct.pack('<dddd', s.kept, s.held + s.gone, s.newest, s.ends)}, {}
  for field in pairs(s.dirty) do
    local value = s.values[field]
    if value == '' or value == 0 then gone[#gone + 1] = field else set[#set + 1], set[#set + 2] = field, value end
  end
  redis.call('HSET', c.key, unpack(set))
  if #gone > 0 then redis.call('HDEL', c.key, unpack(gone)) end
  -- Redis forgets by its own clock. A given one may go slower, so then each write renews the time to live.
  local life = math.ceil((s.ends - c.now) / 1000)
  if s.ends ~= s.stored or c.given then redis.call('PEXPIRE', c.key, life) end
  if s.held + s.gone > 0 then redis.call('PEXPIRE', c.records, life) end
end

local function back(c, s, stamp)
  local keeps, name = string.find(c.options, 'keep', 1, true), digits(stamp)
  local one = s.ends > 0 and purchase_of(c, s, name)
  s.changed = one and one.member == c.id and (keeps or one.kind ~= 'paid') or false
  if not s.changed then return false end
  if one.kind == 'held' then
    local by_time, by_member = 't' .. name .. ':', 'm' .. c.id .. ' ' .. name .. ':'
    redis.call('ZREMRANGEBYLEX', c.records, '[' .. by_time, '(' .. by_time .. ';')
    redis.call('ZREMRANGEBYLEX', c.records, '[' .. by_member, '(' .. by_member .. ';')
    s.held, s.kept = s.held - one.n, s.kept + (keeps and one.n or 0)
    if keeps then put_kept(c, s, one.n) end
  elseif not keeps then
    s.kept = s.kept - one.n
    put_kept(c, s, -one.n)
  end
  if keeps then
    put(s, name, 'paid' .. string.sub(get(c, s, name), 5))
  else
    forget(c, s, name, c.id, one.request)
  end
  return true
end

local function stamp_of(c, s, command, from, to, skipped)
  local permit = redis.call(command, c.records, from, to, 'LIMIT', skipped, '1')[1]
  return permit and tonumber(string.match(permit, '^t(%d+)')) or s.newest
end

local function answer(c, s, allowed)
  local sold, left, next_us, reset = s.kept + s.held, s.ends - c.now, 0, 0
  if sold > 0 then
    -- A hold that runs out gives more only when no more than the stock is sold then, which may have been made smaller.
    local over, from, at, last = math.max(0, sold - c.limit), '[t' .. digits(s.alive), s.stamp, s.stamp
    if s.held - s.fresh > over then at = stamp_of(c, s, 'ZRANGEBYLEX', from, '(u', over) end
    if s.held == sold and s.fresh == 0 then last = stamp_of(c, s, 'ZREVRANGEBYLEX', '(u', from, 0) end
    next_us = s.held > over and math.min(left, at + c.period - c.now) or left
    reset = s.held == sold and math.min(left, last + c.period - c.now) or left
  end
  local why = not allowed and c.n > 0 and reason(c, s)
  return why == 3 and s.opens - c.now or -1, math.max(0, c.limit - sold), next_us, reset, why or s.stamp
end
-- [/algorithm]
