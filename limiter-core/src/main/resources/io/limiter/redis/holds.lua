-- holds: permits of a fixed window or a token bucket that are reserved: records in a sorted set beside the state. These
-- lines stand behind the algorithm's, whose functions look, admits, take and so on are plain_look and so on here.
--
-- KEYS     behind the key of the state comes that of its records. A record is a member of the id (16 hexadecimal
--          digits) and, as little-endian integers of 4, 6, 6 and 8 bytes: permits, time to live and time to keep in us,
--          end of the window in which it was counted (0 of a bucket). It is scored with its end in us. One that was
--          found to have run out is marked: '~' stands before it, and it is scored 2^52 + until when it is kept. Of a
--          bucket the member '' has what is held: -1 - sum
-- ARGV     as the algorithm, but: 6 of a reservation and a settlement its id  7 of a settlement 'back:' and the
--          window's end  8 of a settlement the actual permits  10 the most records  11 and 12 of a reservation and a
--          settlement the times to live and to keep, else ''. 5 to 12 may be left out of a take
-- RETURNS  as the algorithm; of a reservation stamp_us is the window's end, 0 of a bucket, -6 denied: too many records;
--          of a settlement 0 where there is no record, else 1 + the permits that were forgotten
-- EXPIRES  after the last record that is kept, and after the window
-- TWIN     io/limiter/inprocess/HoldSet.java
--
-- A call is admitted by a bucket that has what it needs and all that is held; a reservation takes nothing from it, and
-- a settlement takes the actual cost. So plain calls, settlements and what is held are at most burst + rate * time, but
-- for what settlements cost above their reservations or come after their end: a debt of at most the burst, which is
-- paid before the next call is admitted. What would be above that is forgotten, and told.
-- [holds]
-- 4503599627370496 is 2^52. Such constants have no names: a name takes time for each function that uses it.

-- Only a window has a count: so a bucket is known. Frees what is held; false if that was in a window that is over.
local function free(c, s, n, window)
  local counts = not s.count or s.count > 0 and s.stored == window
  if not s.count then
    c.held = math.max(0, c.held - n)
  elseif counts then
    s.count, s.changed = math.max(0, s.count - n), true
  end
  return counts
end

-- Writes what a bucket's records hold.
local function note(c, s)
  if c.held > 0 then
    redis.call('ZADD', c.records, -1 - c.held, '')
  elseif not s.count then
    redis.call('ZREM', c.records, '')
  end
end

-- Gives back what has run out, in a portion, the oldest first. After a clock that stepped back the first ones end at
-- most their own time from now.
local function tidy(c, s)
  local scored, gone = {}, {}
  local records = redis.call('ZRANGEBYSCORE', c.records, '0', '(4503599627370496', 'WITHSCORES', 'LIMIT', '0', '50')
  for i = 1, #records, 2 do
    local member, ends, score = records[i], tonumber(records[i + 1]), nil
    local n, ttl, keep, window = struct.unpack('<I4I6I6I8', member, 17)
    if ends <= c.now then
      free(c, s, n, window)
      gone[#gone + 1] = member
      if ends + keep > c.now then member, score = '~' .. member, 2 ^ 52 + ends + keep end
    elseif ends > c.now + ttl then
      score = c.now + ttl
    else
      break
    end
    if score then scored[#scored + 1], scored[#scored + 2] = string.format('%.0f', score), member end
  end
  if #scored > 0 then redis.call('ZADD', c.records, unpack(scored)) end
  if #gone > 0 then redis.call('ZREM', c.records, unpack(gone)) end
  note(c, s)
end

-- How long until there is room for another record; false if there is.
local function full(c)
  local most = c.most + (c.held > 0 and 1 or 0)
  if redis.call('ZCARD', c.records) < most then return false end
  local last = 2 ^ 52 + (c.writes == false and -1 or c.now)
  local old = redis.call('ZRANGEBYSCORE', c.records, 2 ^ 52, last, 'LIMIT', '0', '50')
  if #old > 0 then redis.call('ZREM', c.records, unpack(old)) end
  if redis.call('ZCARD', c.records) < most then return false end
  local kept = redis.call('ZRANGEBYSCORE', c.records, 2 ^ 52, '+inf', 'WITHSCORES', 'LIMIT', '0', '1')
  if kept[1] then return math.max(1, kept[2] - 2 ^ 52 - c.now) end
  local open = redis.call('ZRANGEBYSCORE', c.records, '0', '(4503599627370496', 'WITHSCORES', 'LIMIT', '0', '1')
  local _, _, keep = struct.unpack('<I4I6I6I8', open[1], 17)
  return math.max(1, open[2] + keep - c.now)
end

-- c has the fields that it has in the algorithm files, and: records (their key), most, ttl, keep, actual (as in ARGV),
-- held (by a bucket's records), first (whether there is a record), done (true: reserved; of a settlement what it
-- returns; else how long there is no room, or false).
local function look(c, s)
  if not c.records then
    local most, ttl, keep = ARGV[10], ARGV[11], ARGV[12]
    c.records = KEYS[2]
    if most then c.most, c.ttl, c.keep, c.actual = tonumber(most), tonumber(ttl), tonumber(keep), tonumber(ARGV[8]) end
  end
  s = plain_look(c, s)
  -- The sum of a bucket, if there is one, and the first record.
  local first, at = redis.call('ZRANGE', c.records, '0', s.count and '0' or '1', 'WITHSCORES'), 1
  c.held, c.done = 0, false
  if first[1] == '' then c.held, at = -1 - first[2], 3 end
  local member = first[at]
  c.first = member ~= nil
  if member and c.n > 0 and (c.writes or c.writes == nil and ARGV[7] ~= 'look') then
    local ends, _, ttl = tonumber(first[at + 1]), struct.unpack('<I4I6I6I8', member, 17)
    if ends <= c.now or ends > c.now + ttl and ends < 2 ^ 52 then tidy(c, s) end
  end
  return s
end

local function admits(c, s)
  local allowed = s.count and plain_admits(c, s)
    or not s.count and c.n <= c.burst and s.level >= (c.n + c.held) * s.parts
  c.done = allowed and c.ttl and c.first and full(c)
  return allowed and not c.done
end

local function take(c, s)
  c.done = c.ttl and true
  if s.count or not c.ttl then
    plain_take(c, s)
  else
    c.held, s.changed = c.held + c.n, s.changed or 'records'
  end
end

local function write(c, s)
  if c.done == true then
    local member, ends = c.id .. struct.pack('<I4I6I6I8', c.n, c.ttl, c.keep, s.count and s.ends or 0), c.now + c.ttl
    if s.count then
      redis.call('ZADD', c.records, ends, member)
    else
      redis.call('ZADD', c.records, ends, member, -1 - c.held, '')
    end
    -- A given clock may stand still, while that of Redis goes on: a minute more.
    -- Of a window no record is forgotten before it has been given back.
    local life = math.max(c.ttl + c.keep, s.count and s.ends - c.now or 0) / 1000 + (c.given and 60000 or 0)
    if not c.first or redis.call('PTTL', c.records) < life then
      redis.call('PEXPIRE', c.records, math.ceil(life * 9 / 8))
    end
  end
  if s.changed ~= 'records' then plain_write(c, s) end
end

-- A settlement charges what it has cost instead of what was reserved: at most the capacity above that, and no debt
-- above it.
local function back(c, s, stamp)
  if not c.actual then return plain_back(c, s, stamp) end
  local member, base, excess = c.id .. struct.pack('<I4I6I6I8', c.n, c.ttl, c.keep, stamp), 0, c.actual
  local window = s.count and s.count > 0 and s.ends or s.latest
  if redis.call('ZREM', c.records, member) == 1 then
    excess = math.max(0, c.actual - c.n)
    if free(c, s, c.n, stamp) then base = math.min(c.actual, c.n) end
    note(c, s)
  elseif redis.call('ZREM', c.records, '~' .. member) == 0 then
    return false
  end
  local room = s.count and 2 * c.limit - s.count or c.burst + math.floor(s.level / s.parts)
  local charged = math.min(base + math.min(excess, s.count and c.limit or c.burst), math.max(0, room))
  c.done = 1 + base + excess - charged
  if charged > 0 and s.count then
    s.count, s.ends, s.changed = s.count + charged, window, true
  elseif charged > 0 then
    s.level, s.changed = s.level - charged * s.parts, true
  end
  return true
end

local function answer(c, s, allowed)
  if c.actual then return 0, 0, 0, 0, c.done or 0 end
  local retry, remaining, next_us, reset, stamp = plain_answer(c, s, allowed)
  if c.held > 0 then
    local open = redis.call('ZREVRANGEBYSCORE', c.records, '(4503599627370496', '0', 'WITHSCORES', 'LIMIT', '0', '1')
    local last = open[2] or 0
    -- How long until a bucket has so many permits beside what is held. Where only an end can help: after the last one,
    -- when all is settled as it was reserved.
    local function told(permits)
      local wanted, wait, level = (permits + c.held) * s.parts, s.from - c.now, s.level
      if permits + c.held > c.burst then
        local left = math.max(0, wait, last - c.now)
        level = math.min(s.full, level + (left - math.max(0, wait)) * s.rate)
        return left + math.max(0, math.ceil((wanted - level) / s.rate))
      end
      return wanted <= level and 0 or wait + math.ceil((wanted - level) / s.rate)
    end
    remaining = math.max(0, math.floor(s.level / s.parts) - c.held)
    if retry ~= -1 then retry = allowed and 0 or told(c.n) end
    next_us, reset = told(math.min(c.burst, remaining + 1)), told(c.burst)
  end
  if c.done == true and not s.count then stamp = 0 end
  if c.done and c.done ~= true then retry, stamp = c.done, -6 end
  return retry, remaining, next_us, reset, stamp
end
-- [/holds]
