-- ends_index: an index of numbers by time, in fields of a hash: what has ended until a time is known by reading two
-- fields. An index
-- is empty, a page, or a directory. A page: 'p' and at most 64 entries in order (time, number; packed by the given
-- format).
-- A directory: 'd' and as much for each of its pages: its first time, its sum (that of the last is not kept). These
-- pages are fields:
-- the name of the index, a space and that time. No two entries have one time. get and put read and write a field of the
-- hash; key and s are passed on to them.
local function ends_index(get, put, FORMAT, WIDTH)
  local PAGE = 64
  local of = {}

  local function entry(node, i) return struct.unpack(FORMAT, node, WIDTH * i - WIDTH + 2) end

  local function size(node) return node == '' and 0 or (#node - 1) / WIDTH end

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
  local function spliced(node, i, count, time, n)
    return string.sub(node, 1, WIDTH * i - WIDTH + 1) .. (n and struct.pack(FORMAT, time, n) or '')
      .. string.sub(node, WIDTH * (i + count) - WIDTH + 2)
  end

  local function page_name(name, directory, i) return name .. ' ' .. string.format('%.0f', (entry(directory, i))) end

  -- The page with a time. If it is not the index itself, also its place in it, and its field.
  local function page(key, s, name, root, time)
    if string.byte(root) ~= 100 then return root end
    local at = math.max(1, place(root, time))
    local field = page_name(name, root, at)
    return get(key, s, field), at, field
  end

  -- The sum until a time.
  function of.sum_until(key, s, name, root, time)
    local node, at = page(key, s, name, root, time)
    return total(node, 1, place(node, time)) + (at and total(root, 1, at - 1) or 0)
  end

  -- The index with one more entry.
  function of.insert(key, s, name, root, time, n)
    if root == '' then root = 'p' end
    local node, at, field = page(key, s, name, root, time)
    local i = place(node, time)
    node = spliced(node, i + 1, 0, time, n)
    if size(node) > PAGE then
      -- Most are added at the end, which leaves full pages behind.
      local kept = i == PAGE and PAGE or PAGE / 2
      local right = 'p' .. string.sub(node, WIDTH * kept + 2)
      local first, next_first = entry(node, 1), (entry(right, 1))
      if at then first = entry(root, at) else root, at, field = 'd', 1, page_name(name, node, 1) end
      node = string.sub(node, 1, WIDTH * kept + 1)
      root = spliced(root, at, root == 'd' and 0 or 1, first, total(node, 1, kept))
      root = spliced(root, at + 1, 0, next_first, total(right, 1, size(right)))
      put(s, page_name(name, right, 1), right)
    elseif at and at < size(root) then
      local first, sum = entry(root, at)
      root = spliced(root, at, 1, first, sum + n)
    end
    if not at then return node end
    put(s, field, node)
    return root
  end

  -- The index without so many entries of one page, from that of a time on. Pages with few are united, so that there are
  -- not many.
  function of.remove(key, s, name, root, time, count)
    local node, at, field = page(key, s, name, root, time)
    local i = place(node, time)
    local n = total(node, i, i + count - 1)
    node = spliced(node, i, count)
    if not at then return #node > 1 and node or '' end
    local first, sum = entry(root, at)
    root = spliced(root, at, 1, first, math.max(0, sum - n))
    put(s, field, node)
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

  of.entry, of.size, of.place, of.total, of.page, of.page_name = entry, size, place, total, page, page_name
  return of
end
