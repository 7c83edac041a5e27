import { isUsable, passcodeMessage } from "@atelier/core/identity"
import { rendered } from "@atelier/core/notifications"
import { Timestamp } from "@atelier/core/platform"
import * as FastCheck from "fast-check"
import { describe, expect, it } from "vitest"

const sender = { brand: "Atelier", accessUrl: "https://dev.example.com" }

describe("an email message", () => {
  it("says the same in both forms", () => {
    const { html, subject, text } = rendered(
      {
        subject: "A subject",
        name: "Ada",
        paragraphs: ["One & two.", "Three."],
        actions: [{ label: "Go", url: "https://x.example/?a=1&b=2" }]
      },
      sender
    )
    expect(subject).toBe("A subject")
    expect(text).toBe("Hi Ada,\n\nOne & two.\n\nThree.\n\nGo: https://x.example/?a=1&b=2")
    for (const part of ["<title>A subject</title>", "<p>One &amp; two.</p>", 'href="https://x.example/?a=1&amp;b=2"', ">Go</a>"]) {
      expect(html).toContain(part)
    }
  })

  it("is HTML of its own only for any texts, with a subject of one line", () => {
    // Paragraphs may have several lines
    const tags = (html: string): ReadonlyArray<string> => (html.match(/<\/?[a-z!][^>]*>/g) ?? []).filter((tag) => tag !== "<br>")
    const plain = rendered({ subject: "x", name: "x", paragraphs: ["x"], actions: [{ label: "x", url: "x" }] }, sender)
    FastCheck.assert(
      FastCheck.property(
        FastCheck.oneof(
          FastCheck.string(),
          FastCheck.constantFrom('"><script>alert(1)</script>', "a\r\nBcc: eve@example.com", "' onclick='x")
        ),
        (hostile) => {
          const { html, subject } = rendered(
            { subject: hostile, name: hostile, paragraphs: [hostile], actions: [{ label: hostile, url: "x" }] },
            sender
          )
          expect(tags(html)).toStrictEqual(tags(plain.html))
          expect(subject).not.toMatch(/[\r\n]/)
        }
      )
    )
  })
})

describe("a one-time passcode", () => {
  const user = { email: "ada+x&y@example.com", username: "ada", name: "" }

  it("is mailed with a link that holds it, and addresses nameless users by username", () => {
    const { text } = rendered(passcodeMessage(user, "code-1", sender), sender)
    expect(text).toContain("Hi ada,")
    expect(text).toContain("code-1")
    expect(text).toContain("https://dev.example.com/reset-password/change?otp=code-1&email=ada%2Bx%26y%40example.com")
  })

  it("can be used until the instant it expires", () => {
    const expires_at = Timestamp.fromMillis(1000)
    expect([999, 1000, 1001].map((now) => isUsable({ expires_at }, now))).toStrictEqual([true, false, false])
  })
})
