// From codexmem: reports this session to its memory and tells the model what is remembered.
// Written by codexmem; one in your own `plugins` folder is taken away by `codexmem uninstall`.
import { spawn } from "node:child_process"

const HOOK = __HOOK__
const OFFERED = __OFFERED__
const WAITS_MS = 10000
const MOST_BYTES = 4 << 20

// Whatever goes wrong is none of the agent's business: the answer is then empty.
function tell(event, payload) {
  return new Promise((done) => {
    let said = ""
    const end = () => {
      clearTimeout(limit)
      try {
        done(JSON.parse(said).context || "")
      } catch {
        done("")
      }
    }
    const limit = setTimeout(end, WAITS_MS)
    try {
      const [program, ...words] = HOOK
      const hook = spawn(program, [...words, "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
      hook.on("error", end)
      hook.on("close", end)
      hook.stdin.on("error", () => {})
      hook.stdout.on("data", (part) => {
        if (said.length < MOST_BYTES) said += part
      })
      hook.stdin.end(JSON.stringify(payload))
    } catch {
      end()
    }
  })
}

export const Codexmem = async ({ directory }) => {
  // OpenCode is writing memories for codexmem, which must not remember that.
  if (process.env.CODEXMEM_AUTHOR) return {}
  const begun = new Map() // session → what its beginning was told
  const asked = new Map() // session → what bears on its last prompt
  const answers = new Map() // session → the assistant's last text
  const assistant = new Set() // messages that are the assistant's

  const forget = (session) => {
    for (const each of [begun, asked, answers]) each.delete(session)
  }

  return {
    // What a person has configured under the same name stays theirs.
    config: async (config) => {
      for (const [part, entries] of Object.entries(OFFERED)) config[part] = { ...entries, ...config[part] }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID
      if (!begun.has(session)) begun.set(session, await tell("context", { directory, input: { sessionID: session } }))
      const parts = (output.parts || []).filter((part) => part.type === "text" && !part.synthetic)
      asked.set(session, await tell("session-init", { directory, input: { sessionID: session }, output: { parts } }))
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const told of [begun.get(input.sessionID), asked.get(input.sessionID)]) if (told) output.system.push(told)
    },
    "tool.execute.after": async (input, output) => {
      const metadata = { exit: output?.metadata?.exit }
      await tell("observation", { directory, input, output: { output: output?.output, metadata } })
    },
    event: async ({ event }) => {
      const about = event.properties || {}
      if (event.type === "message.updated" && about.info && about.info.role === "assistant") {
        assistant.add(about.info.id)
      } else if (event.type === "message.part.updated" && about.part && about.part.type === "text") {
        if (assistant.has(about.part.messageID)) answers.set(about.part.sessionID, about.part.text)
      } else if (event.type === "session.idle" && answers.has(about.sessionID)) {
        const text = answers.get(about.sessionID)
        answers.delete(about.sessionID)
        assistant.clear()
        await tell("summarize", { directory, event: { properties: { sessionID: about.sessionID } }, text })
      } else if (event.type === "session.deleted" && about.info) {
        forget(about.info.id)
        await tell("session-complete", { directory, event: { properties: { sessionID: about.info.id } } })
      }
    },
  }
}
