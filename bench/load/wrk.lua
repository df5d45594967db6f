-- Sends the requests of a file in turn; a NUL separates them. For one thread.
local requests = {}
local index = 0
local threads = {}
exhausted = 0

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  for request in file:read('*a'):gmatch('[^%z]+') do
    requests[#requests + 1] = request
  end
  file:close()
end

function request()
  index = index + 1
  if index > #requests then
    index = 1
    exhausted = 1
  end
  return requests[index]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format(
    '{"requests":%d,"seconds":%f,"medianMs":%f,"p99Ms":%f,"failed":%d,"exhausted":%s}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed,
    threads[1]:get('exhausted') == 1 and 'true' or 'false'
  ))
end
