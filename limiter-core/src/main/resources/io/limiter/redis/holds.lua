-- holds: permits of a fixed window or a token bucket that are reserved: records in a sorted set beside the state.
--
-- KEYS     behind the key of the state comes that of its records. A record is a member of the id (16 hexadecimal
--          digits) and, as little-endian integers of 4, 6, 6 and 8 bytes: permits, time to live and time to keep in us,
--          end of the window in which it was counted (0 of a bucket). It is scored with its end in us. One that was
--          found to have run out is marked: scored 2^52 + until when it is kept. Of a bucket the member '' has what is
--          held: -1 - sum
-- ARGV 9   after the options of the algorithm 'holds=<most records>', of a reservation and a settlement also
--          ',ttl=<us>,keep=<us>'
-- RETURNS  as the algorithm; of a reservation stamp_us is the window's end, 0 of a bucket, -6 denied: too many records.
--          Of a settlement stamp_us is 8 * the permits that were forgotten + what became of it: 0 no record, 1 settled,
--          2 settled after its end
-- EXPIRES  with the last record that is kept
-- TWIN     io/limiter/inprocess/HoldSet.java
--
-- A call is admitted by a bucket that has what it needs and all that is held; a reservation takes nothing from it, and
-- a settlement takes the actual cost. So plain calls, settlements and what is held are at most burst + rate * time, but
-- for what settlements cost above their reservations or come after their end: a debt of at most the burst, which is
-- paid before the next call is admitted. What would be above that is forgotten, and told.
-- [holds]
local MARKED, OPEN, TERMS, PORTION = 4503599627370496, '(4503599627370496', '<I4I6I6I8', 50

-- Frees what is held; false if it was counted in a window that is over.
local function free(c, s, n, window)
  if c.is_bucket then
    s.held = math.max(0, s.held - n)
  elseif s.count > 0 and s.stored == window then
    s.count, s.changed = math.max(0, s.count - n), true
  else
    return false
  end
  return true
end

-- Writes what a bucket's records hold.
local function note(c, s)
  if s.held > 0 then
    redis.call('ZADD', c.records, -1 - s.held, '')
  elseif c.is_bucket then
    redis.call('ZREM', c.records, '')
  end
end

-- Gives back what has run out, in a portion, the oldest first. After a clock that stepped back the first ones end at
-- most their own time from now.
local function tidy(c, s)
  local scored, gone = {}, {}
  local records = redis.call('ZRANGEBYSCORE', c.records, 0, OPEN, 'WITHSCORES', 'LIMIT', 0, PORTION)
  for i = 1, #records, 2 do
    local member, ends, score = records[i], tonumber(records[i + 1]), nil
    local n, ttl, keep, window = struct.unpack(TERMS, member, 17)
    if ends <= c.now then
      free(c, s, n, window)
      if ends + keep > c.now then score = MARKED + ends + keep else gone[#gone + 1] = member end
    elseif ends > c.now + ttl then
      score = c.now + ttl
    else
      break
    end
    if score then
      scored[#scored + 1] = string.format('%.0f', score)
      scored[#scored + 1] = member
    end
  end
  if #scored > 0 then redis.call('ZADD', c.records, unpack(scored)) end
  if #gone > 0 then redis.call('ZREM', c.records, unpack(gone)) end
  note(c, s)
end

-- How long until there is room for another record; nil if there is.
local function full(c, s)
  local most = c.most + (s.held > 0 and 1 or 0)
  if redis.call('ZCARD', c.records) < most then return nil end
  local old = redis.call('ZRANGEBYSCORE', c.records, MARKED, MARKED + (c.writes and c.now or -1), 'LIMIT', 0, PORTION)
  if #old > 0 then redis.call('ZREM', c.records, unpack(old)) end
  if redis.call('ZCARD', c.records) < most then return nil end
  local kept = redis.call('ZRANGEBYSCORE', c.records, MARKED, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  if kept[1] then return math.max(1, kept[2] - MARKED - c.now) end
  local open = redis.call('ZRANGEBYSCORE', c.records, 0, OPEN, 'WITHSCORES', 'LIMIT', 0, 1)
  if not open[1] then return c.ttl end
  local _, _, keep = struct.unpack(TERMS, open[1], 17)
  return math.max(1, open[2] + keep - c.now)
end

-- How long until a bucket has so many permits beside what is held. Where only an end can help: after the last one, when
-- all is settled as it was reserved.
local function told(c, s, permits)
  local wanted, wait = (permits + s.held) * s.parts, s.from - c.now
  if permits + s.held <= c.burst then
    return wanted <= s.level and 0 or wait + math.ceil((wanted - s.level) / s.rate)
  end
  local last = redis.call('ZREVRANGEBYSCORE', c.records, OPEN, 0, 'WITHSCORES', 'LIMIT', 0, 1)
  local left = math.max(0, wait, (last[2] or 0) - c.now)
  local level = math.min(s.full, s.level + (left - math.max(0, wait)) * s.rate)
  return left + math.max(0, math.ceil((wanted - level) / s.rate))
end

-- For a limit with holds, batch.lua calls these functions instead of those of the algorithm, which are in c.plain.
-- c has the fields that it has in the algorithm files, and: most, ttl and keep (from the options); mode ('', 'reserve'
-- or 'settle'); hold (the id of a reservation or settlement); records (their key); writes (the call may write).
local function read_options(c)
  local base, most, rest = string.match(c.options, '^(.-),?holds=(%d+)(.*)$')
  if not base then error('LIMITEROPTIONS ARGV[9] has no holds: ' .. c.options) end
  local ttl, keep = string.match(rest, '^,ttl=(%d+),keep=(%d+)$')
  c.options, c.most, c.ttl, c.keep = base, tonumber(most), tonumber(ttl or ''), tonumber(keep or '')
end

local function look(c, s)
  if not c.most then read_options(c) end
  s = c.plain.look(c, s)
  s.held, s.reserved, s.wait = 0, false, false
  -- The sum of a bucket, if there is one, and the first record.
  local first, at = redis.call('ZRANGE', c.records, '0', c.is_bucket and '1' or '0', 'WITHSCORES'), 1
  if first[1] == '' then s.held, at = -1 - first[2], 3 end
  local member, ends = first[at], tonumber(first[at + 1] or '')
  if member and ends < MARKED and c.writes and c.n > 0 then
    local _, ttl = struct.unpack(TERMS, member, 17)
    if ends <= c.now or ends > c.now + ttl then tidy(c, s) end
  end
  return s
end

local function admits(c, s)
  local allowed = not c.is_bucket and c.plain.admits(c, s)
    or c.is_bucket and c.n <= c.burst and s.level >= (c.n + s.held) * s.parts
  if allowed and c.ttl then s.wait = full(c, s) end
  return allowed and not s.wait
end

local function take(c, s)
  s.reserved = c.mode == 'reserve'
  if s.reserved and c.is_bucket then
    s.held = s.held + c.n
  else
    c.plain.take(c, s)
  end
end

local function write(c, s)
  if s.reserved then
    local member = c.hold .. struct.pack(TERMS, c.n, c.ttl, c.keep, c.is_bucket and 0 or s.ends)
    redis.call('ZADD', c.records, c.now + c.ttl, member)
    note(c, s)
    -- A given clock may stand still, while that of Redis goes on: a minute more.
    local life = math.ceil((c.ttl + c.keep) / 1000) + (c.given and 60000 or 0)
    if redis.call('PTTL', c.records) < life then redis.call('PEXPIRE', c.records, math.ceil(life * 9 / 8)) end
  end
  if s.changed then c.plain.write(c, s) end
end

local function answer(c, s, allowed)
  local retry, remaining, next_us, reset, stamp = c.plain.answer(c, s, allowed)
  if s.held > 0 then
    remaining = math.max(0, math.floor(s.level / s.parts) - s.held)
    if retry ~= -1 then retry = allowed and 0 or told(c, s, c.n) end
    next_us, reset = told(c, s, math.min(c.burst, remaining + 1)), told(c, s, c.burst)
  end
  if s.reserved and c.is_bucket then stamp = 0 end
  if s.wait then retry, stamp = s.wait, -6 end
  return retry, remaining, next_us, reset, stamp
end

-- Charges what it has cost instead of what was reserved: at most the capacity above that, and no debt above it.
local function settle(c, s, window, actual)
  local member = c.hold .. struct.pack(TERMS, c.n, c.ttl, c.keep, window)
  local score = tonumber(redis.call('ZSCORE', c.records, member) or '')
  if not score then return 0 end
  redis.call('ZREM', c.records, member)
  local is_open, stands, base, excess = score < MARKED, s.count and s.count > 0, 0, actual
  if is_open then
    excess = math.max(0, actual - c.n)
    if free(c, s, c.n, window) then base = math.min(actual, c.n) end
  end
  local capacity = c.is_bucket and c.burst or c.limit
  local room = c.is_bucket and capacity + math.floor(s.level / s.parts) or 2 * capacity - s.count
  local charged = math.min(base + math.min(excess, capacity), math.max(0, room))
  if charged > 0 and c.is_bucket then
    s.level, s.changed = s.level - charged * s.parts, true
  elseif charged > 0 then
    s.count, s.ends, s.changed = s.count + charged, stands and s.ends or s.latest, true
  end
  if is_open then note(c, s) end
  return (is_open and score > c.now and 1 or 2) + 8 * (base + excess - charged)
end
-- [/holds]
