// A consumer in Node without any package: `node examples/consumers/redis_list.mjs` prints what comes in.
//
// The target is a list (`redis://host:6379/0?list=reports`). A message is moved to a second list while it is handled and
// removed from there when it is done, so one that dies in the middle loses nothing: what it left is handled first.
import { connect } from 'node:net'

const { hostname, port, pathname } = new URL(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379/0')
const list = process.env.LIST ?? 'reports'
const taken = `${list}:taken`

const handlers = {
  'schedule.reports.nightly.arrived': async (event) => console.log('report', event.id, event.data.userPayload),
}
const seen = new Set()

// The smallest client of Redis: one command at a time, and answers that are texts, numbers or nothing.
const socket = connect(Number(port || 6379), hostname)
let came = Buffer.alloc(0)
let waiting = () => {}
socket.on('data', (bytes) => {
  came = Buffer.concat([came, bytes])
  waiting()
})

async function ask(...words) {
  const parts = words.map((word) => Buffer.from(String(word)))
  socket.write(`*${parts.length}\r\n`)
  for (const part of parts) socket.write(Buffer.concat([Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')]))
  for (;;) {
    const end = came.indexOf('\r\n')
    if (end >= 0) {
      const [kind, rest] = [String.fromCharCode(came[0]), came.subarray(1, end).toString()]
      if (kind === '-') throw new Error(rest)
      const length = kind === '$' ? Number(rest) : -1
      const size = end + 2 + (length >= 0 ? length + 2 : 0)
      if (came.length >= size) {
        const answer = kind === '$' || kind === '*' ? (length < 0 ? null : came.subarray(end + 2, size - 2)) : rest
        came = came.subarray(size)
        return answer
      }
    }
    await new Promise((resolve) => (waiting = resolve))
  }
}

async function handle(body) {
  const event = JSON.parse(body)
  if (!seen.has(event.id)) {
    const handler = handlers[event.type]
    if (handler) await handler(event)
    else console.error('no handler for', event.type)
    seen.add(event.id)
  }
  await ask('LREM', taken, 1, body)
}

await ask('SELECT', pathname.slice(1) || 0)
for (let left; (left = await ask('LINDEX', taken, 0)) !== null; ) await handle(left)

let stopping = false
process.on('SIGTERM', () => (stopping = true))
while (!stopping) {
  const body = await ask('BLMOVE', list, taken, 'LEFT', 'RIGHT', 1)
  if (body !== null) await handle(body)
}
socket.end()
