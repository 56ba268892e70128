// BullMQ on Redis (append-only file, synced every second), one worker of concurrency 50.
// usage: recurring N | oneshot N | steady RATE SECONDS | queue N      (BENCH_REDIS is the server's port)
const { Queue, Worker } = require('bullmq')
const [cell, ...numbers] = process.argv.slice(2)
const connection = { host: '127.0.0.1', port: +process.env.BENCH_REDIS, maxRetriesPerRequest: null }
const rows = [] // key, ran at, due at
const now = () => Date.now() / 1000
const sleep = seconds => new Promise(resolve => setTimeout(resolve, Math.max(0, seconds * 1000)))
const percentile = (ordered, p) => ordered.length ? ordered[Math.max(0, Math.ceil(p / 100 * ordered.length) - 1)] : 0

function lagFigures (lags) {
  const ordered = lags.sort((a, b) => a - b)
  return { p50_ms: 1000 * percentile(ordered, 50), p99_ms: 1000 * percentile(ordered, 99), max_ms: 1000 * percentile(ordered, 100) }
}

function burstFigures (n, at, done) {
  const first = new Map()
  for (const [key, ran] of rows) if (!first.has(key)) first.set(key, ran)
  const last = done - at
  return { per_s: first.size / last, last_s: last, ...lagFigures([...first.values()].map(ran => ran - at)), missed: n - first.size, doubled: rows.length - first.size }
}

async function main () {
  const queue = new Queue('q', { connection, defaultJobOptions: { removeOnComplete: true } })
  await queue.waitUntilReady()
  await queue.obliterate({ force: true })
  const work = async () => {
    const worker = new Worker('q', async job => {
      rows.push([job.data.i, now(), job.opts.delay !== undefined ? (job.timestamp + job.opts.delay) / 1000 : 0])
    }, { connection, concurrency: 50 })
    await worker.waitUntilReady()
  }
  const done = async n => {
    const end = now() + 150
    while (now() < end) {
      if (rows.length >= n) {
        const counts = await queue.getJobCounts('wait', 'active', 'prioritized')
        if (counts.wait + counts.active + counts.prioritized === 0) break
      }
      await sleep(0.02)
    }
    return now()
  }
  const bulk = async (n, make) => {
    for (let first = 0; first < n; first += 2000) {
      await queue.addBulk(Array.from({ length: Math.min(2000, n - first) }, (_, i) => make(first + i)))
    }
  }
  const cells = {
    async oneshot (n) {
      const at = Math.floor(now() + 6 + n / 3000)
      await bulk(n, i => ({ name: 'noop', data: { i }, opts: { delay: Math.round(at * 1000 - Date.now()) } }))
      await work()
      await sleep(at - now())
      return burstFigures(n, at, await done(n))
    },
    async recurring (n) {
      const at = (Math.floor((now() + 5 + n / 800) / 60) + 1) * 60
      const minute = new Date(at * 1000)
      const pattern = `${minute.getUTCMinutes()} ${minute.getUTCHours()} * * *`
      for (let i = 0; i < n; i++) {
        await queue.upsertJobScheduler('s' + i, { pattern, tz: 'UTC' }, { name: 'noop', data: { i }, opts: { removeOnComplete: true } })
      }
      await work()
      await sleep(at - now())
      return burstFigures(n, at, await done(n))
    },
    async steady (rate, seconds) {
      for (let i = 0; i < rate; i++) {
        await queue.upsertJobScheduler('s' + i, { every: 1000 }, { name: 'noop', data: { i }, opts: { removeOnComplete: true } })
      }
      await work()
      await sleep(5)
      const from = now()
      await sleep(seconds)
      const to = now()
      const due = rows.filter(row => row[2] >= from && row[2] < to - 0.5)
      const ran = rows.filter(row => row[1] >= from && row[1] < to).length
      return { held_per_s: ran / seconds, ...lagFigures(due.map(row => row[1] - row[2])) }
    },
    async queue (n) {
      await bulk(n, i => ({ name: 'noop', data: { i } }))
      const began = now()
      await work()
      const end = await done(n)
      return { per_s: rows.length / (end - began), missed: n - rows.length, doubled: 0 }
    }
  }
  console.log(JSON.stringify(await cells[cell](...numbers.map(Number))))
  process.exit(0)
}

main().catch(error => { console.error(error); process.exit(1) })
