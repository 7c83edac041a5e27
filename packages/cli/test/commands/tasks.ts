/** The life of a task, whose worker is the one of the starter template. */
import { join } from "node:path"
import { expect, it } from "vitest"
import type { Service } from "../service.js"

export const taskTests = (get: () => Service, succeed: (...args: ReadonlyArray<string>) => Promise<string>): void => {
  it("tasks, from the first word to the end", async () => {
    const service = get()
    expect((await service.run(["tasks", "create", "x"])).stderr).toMatch(/--template: is missing\.\nTo do: name one of [\w, ]*\bshell\b/)
    const folder = join(service.directory, "work")
    await succeed("templates", "init", folder, "--from", "task")
    await service.run(["templates", "push", "work", "-d", folder])
    const name = (await succeed("tasks", "create", "echo begun", "-t", "work", "--name", "chores")).trim()
    expect(name).toBe("chores")
    // Waits for the worker too
    await succeed("tasks", "send", name, "echo early")
    // Waits for the worker, sends the line, and ends with the answer
    const attached = await service.run(["tasks", "attach", name], { stdin: "echo attached here\n" })
    expect(attached).toMatchObject({ code: 0, stdout: expect.stringMatching(/> echo begun\nbegun[^]*> echo attached here\nattached here/) })
    await succeed("tasks", "send", name, "echo sent")
    await expect.poll(() => succeed("tasks", "logs", name)).toMatch(/> echo sent\nsent/)
    expect(await succeed("tasks", "list")).toMatch(/^NAME +STATUS.*\nchores +active +work/)
    await succeed("tasks", "delete", name)
    expect((await service.run(["tasks", "logs", name])).code).toBe(4)
  })
}
