
-- The state: a table. Of what is sold, gone has run out and is not settled yet. Where the call is denied it has the reason,
-- where it repeats a purchase that one.
local function look(key, now, n, _, period, burst, id, request, options)
  local opens, closes = string.match(options, '^opens=(%d+),closes=(%d+)')
  local s = nothing(tonumber(opens or 0), tonumber(closes or 2 * FOREVER - DAY))
  local raw = redis.call('HGET', key, '')
  if not raw then return s end
  local sold, held, first, last, newest, ends, chain
  if #raw == 46 then
    sold, held, first, last, newest, ends, chain = struct.unpack('<I3I3ddddd', raw)
  else
    sold, held, chain, last, newest, ends = struct.unpack('<dddddd', raw)
    first = 0
  end
  s.found = true
  if ends <= now then return s end
  s.sold, s.held, s.first, s.last, s.newest, s.ends, s.chain = sold, held, first, last, newest, ends, chain
  s.reads, s.stored = true, true
  if chain > 0 then index().convert(key, s) end
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

local function reason(now, n, limit, burst, s)
  local SOLD_OUT, ALREADY_HAD, NOT_OPEN, CLOSED, QUANTITY = 1, 2, 3, 4, 5
  if n > burst or s.differs then return QUANTITY end
  if now >= s.closes then return CLOSED end
  if s.had + n > burst then return ALREADY_HAD end
  if s.sold - s.gone + n > limit then return SOLD_OUT end
  return now < s.opens and NOT_OPEN or nil
end

local function charge(now, n, limit, period, burst, s)
  if not s.repeated and reason(now, n, limit, burst, s) then return nil end
  if not s.repeated and s.sold == s.gone then
    local found = s.found
    s = nothing(s.opens, s.closes)
    s.found = found
  end
  local ends = math.max(s.ends, s.closes + DAY)
  if s.repeated then return setmetatable({renewed = ends > s.ends, ends = ends}, {__index = s}) end
  local stamp, holds = math.max(now, s.newest + 1), period < FOREVER
  return setmetatable({renewed = ends > s.ends, ends = ends, stamp = stamp, sold = s.sold + n, newest = stamp, holds = holds,
    held = holds and s.held + n or s.held, last = holds and stamp or s.last, first = holds and s.first == 0 and stamp or s.first},
    {__index = s})
end

local function forget_all(key)
  -- An error: a user who may not, as documented for earlier versions.
  if type(redis.pcall('UNLINK', key)) ~= 'number' then redis.call('DEL', key) end
end

local function save(key, now, s)
  put(s, '', struct.pack('<I3I3ddddd', s.sold, s.held, s.first, s.last, s.newest, s.ends, s.chain))
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
    return nothing(s.opens, s.closes)
  end
  if s.first > 0 and s.first <= now - period then index().sweep(key, now, period, s) end
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
  if s.found and not s.stored then forget_all(key) end
  local one = {stamp = s.stamp, kind = s.holds and 4 or 2, n = n, after = 0, member = id, request = request}
  store(s, one)
  if request ~= '' then put(s, request_field(id, request), field(s.stamp)) end
  local had, root = member_of(key, s, id)
  if s.holds then
    put(s, 'g', append(key, s, 'g', get(key, s, 'g') or '', s.stamp, n))
    root = append(key, s, 'h' .. id, root, s.stamp, n)
  end
  put(s, 'm' .. id, field(had + n) .. root)
  if s.first > 0 and s.first <= now - period then index().sweep(key, now, period, s) end
  save(key, now, s)
  return s
end

local function back(key, now, _, _, period, _, id, stamp, s, _, _, _, _, _, _, options)
  local keeps = string.find(options, 'keep', 1, true)
  local one = s.stored and fetch(key, s, stamp)
  if not one or one.member ~= id or one.kind == 5 or has_run_out(one, now, period) or one.kind == 3 and not keeps then
    return false, s
  end
  local of, is_indexed, is_chained = index(), one.kind == 4, one.kind == 1
  if is_indexed or is_chained then s.held = s.held - one.n end
  if is_indexed then
    of.put_index(key, s, of.remove, stamp, 1)
    if stamp == s.first or stamp == s.last then of.note_edges(key, s) end
  end
  if not keeps then
    of.forget(key, s, one, is_indexed)
  elseif is_indexed then
    of.put_member(key, s, one, 0, of.remove)
  end
  if keeps or is_chained then
    one.kind = keeps and 3 or 5
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
      at = index().beyond(key, s, get(key, s, 'g') or '', s.gone + over) or s.held - s.gone > over and s.last or 0
    end
    if s.chain > 0 then at = math.max(now - period + 1, at > 0 and math.min(at, s.chain) or s.chain) end
    next_us = (at > 0 and math.min(s.ends, at + period) or s.ends) - now
    reset = (s.held - s.gone == sold and math.min(s.ends, math.max(now + 1, s.last + period)) or s.ends) - now
  end
  local why = not allowed and n > 0 and reason(now, n, limit, burst, s)
  return why == 3 and s.opens - now or -1, sold < limit and limit - sold or 0, next_us, reset, why or s.stamp
end
-- [/algorithm]
