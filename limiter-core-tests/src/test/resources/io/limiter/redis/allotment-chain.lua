-- allotment: a stock that members draw from between two times. Nothing comes back by itself, other than holds that run out.
--
-- KEYS[1]  the state: a hash. Field '': six little-endian doubles: permits sold, those of them on hold, the stamps of the oldest and
--          the newest hold (0 = none), the newest stamp, the time from which on the state counts no more. 'm' and a member: how
--          many it has. 'r', the length of a member, ':', the member and a request id: the stamp of that purchase. A stamp: the
--          purchase: a byte (1 on hold, 2 sold, 3 confirmed), four doubles (permits, the stamps of the holds before and after it,
--          the length of the member), the member and the request id
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
local HELD, SOLD, CONFIRMED = 1, 2, 3
local SOLD_OUT, ALREADY_HAD, NOT_OPEN, CLOSED, QUANTITY = 1, 2, 3, 4, 5

local function field(stamp) return string.format('%.0f', stamp) end

local function request_field(member, request) return 'r' .. #member .. ':' .. member .. request end

local function fetch(key, stamp)
  local raw = redis.call('HGET', key, field(stamp))
  if not raw then return nil end
  local one = {stamp = stamp}
  one.kind, one.n, one.before, one.after, one.size = struct.unpack('<Bdddd', raw)
  one.member, one.request = string.sub(raw, 34, 33 + one.size), string.sub(raw, 34 + one.size)
  return one
end

local function store(key, one)
  redis.call('HSET', key, field(one.stamp),
    struct.pack('<Bdddd', one.kind, one.n, one.before, one.after, #one.member) .. one.member .. one.request)
end

local function save(key, now, s)
  if s.sold == 0 then
    redis.call('DEL', key)
  else
    redis.call('HSET', key, '', struct.pack('<dddddd', s.sold, s.held, s.first, s.last, s.newest, s.ends))
    redis.call('PEXPIRE', key, math.ceil((s.ends - now) / 1000))
  end
end

local function has_run_out(one, now, period) return one.kind == HELD and one.stamp + period <= now end

-- The state: a table, as if the holds that have run out were gone: they are in due. Where the call is denied it has the reason,
-- where it repeats a purchase that one.
local function look(key, now, n, _, period, burst, id, request, options)
  local opens = tonumber(string.match(options, 'opens=(%d+)') or 0)
  local closes = tonumber(string.match(options, 'closes=(%d+)') or 2 * FOREVER - DAY)
  local s = {sold = 0, held = 0, first = 0, last = 0, newest = 0, ends = 0, opens = opens, closes = closes, had = 0, due = {}, stamp = 0}
  local raw = redis.call('HGET', key, '')
  if raw then
    local sold, held, first, last, newest, ends = struct.unpack('<dddddd', raw)
    s.stale = ends <= now
    if not s.stale then
      s.sold, s.held, s.first, s.last, s.newest, s.ends, s.stored = sold, held, first, last, newest, ends, true
      s.had = tonumber(redis.call('HGET', key, 'm' .. id) or 0)
      while s.first > 0 and s.first + period <= now do
        local one = fetch(key, s.first)
        s.due[#s.due + 1] = one
        s.sold, s.held, s.first = s.sold - one.n, s.held - one.n, one.after
        if one.member == id then s.had = s.had - one.n end
      end
      if s.first == 0 then s.last = 0 end
      if s.sold == 0 then s.newest, s.ends = 0, 0 end
    end
  end
  if n > 0 and s.stored and request ~= '' then
    local stamp = tonumber(redis.call('HGET', key, request_field(id, request)) or '')
    local one = stamp and fetch(key, stamp)
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
  if s.sold + n > limit then return SOLD_OUT end
  return now < s.opens and NOT_OPEN or nil
end

local function charge(now, n, limit, period, burst, s)
  if not s.repeated and reason(now, n, limit, burst, s) then return nil end
  local after = {}
  for name, value in pairs(s) do after[name] = value end
  after.ends = math.max(s.ends, s.closes + DAY)
  if s.repeated then
    after.renewed = after.ends > s.ends
    return after
  end
  after.stamp = math.max(now, s.newest + 1)
  after.sold, after.newest = s.sold + n, after.stamp
  if period < FOREVER then
    after.held, after.last, after.before = s.held + n, after.stamp, s.last
    if s.first == 0 then after.first = after.stamp end
  end
  return after
end

local function forget(key, one)
  redis.call('HDEL', key, field(one.stamp), request_field(one.member, one.request))
  if redis.call('HINCRBY', key, 'm' .. one.member, field(-one.n)) == 0 then redis.call('HDEL', key, 'm' .. one.member) end
end

-- Writes what the state is without the holds that have run out, to be kept as long as it closes now.
local function settle(key, now, _, _, _, _, _, s)
  if s.stored then
    for _, one in ipairs(s.due) do forget(key, one) end
    local ends = math.max(s.ends, s.closes + DAY)
    if #s.due > 0 or s.renewed or ends > s.ends then
      s.ends = ends
      save(key, now, s)
    end
  end
  return s
end

local function write(key, now, n, _, period, _, id, s, _, _, _, _, _, request)
  if s.repeated then return settle(key, now, n, 0, 0, 0, id, s) end
  if s.stale then redis.call('DEL', key) end
  for _, one in ipairs(s.due) do forget(key, one) end
  local before = s.before and s.before > 0 and fetch(key, s.before)
  if before then
    before.after = s.stamp
    store(key, before)
  end
  store(key, {stamp = s.stamp, kind = s.before and HELD or SOLD, n = n, before = s.before or 0, after = 0, member = id,
    request = request})
  redis.call('HINCRBY', key, 'm' .. id, field(n))
  if request ~= '' then redis.call('HSET', key, request_field(id, request), field(s.stamp)) end
  save(key, now, s)
  return s
end

-- Takes a hold out of the chain of holds.
local function unchain(key, s, one)
  s.held = s.held - one.n
  if one.stamp == s.first then
    s.first = one.after
  else
    local before = fetch(key, one.before)
    before.after = one.after
    store(key, before)
  end
  if one.stamp == s.last then
    s.last = s.first > 0 and one.before or 0
  else
    local after = fetch(key, one.after)
    after.before = one.before
    store(key, after)
  end
end

local function back(key, now, _, _, period, _, id, stamp, s, _, _, _, _, _, _, options)
  local keeps = string.find(options, 'keep', 1, true)
  local one = s.stored and fetch(key, stamp)
  if not one or one.member ~= id or has_run_out(one, now, period) or one.kind == CONFIRMED and not keeps then
    return false, s
  end
  if one.kind == HELD then unchain(key, s, one) end
  if keeps then
    one.kind = CONFIRMED
    store(key, one)
  else
    forget(key, one)
    s.sold = s.sold - one.n
  end
  s.renewed = true
  return true, settle(key, now, 0, 0, 0, 0, id, s)
end

local function answer(key, now, n, limit, period, burst, allowed, s)
  local next_us, reset = 0, 0
  if s.sold > 0 then
    -- A hold that runs out gives more only when no more than the stock is sold then, which may have been made smaller.
    local at, over = s.first, s.sold - limit
    while at > 0 and over > 0 do
      local one = fetch(key, at)
      over = over - one.n
      if over >= 0 then at = one.after end
    end
    next_us = (at > 0 and math.min(s.ends, at + period) or s.ends) - now
    reset = (s.held == s.sold and math.min(s.ends, s.last + period) or s.ends) - now
  end
  local why = not allowed and n > 0 and reason(now, n, limit, burst, s)
  return why == NOT_OPEN and s.opens - now or -1, s.sold < limit and limit - s.sold or 0, next_us, reset, why or s.stamp
end
-- [/algorithm]
