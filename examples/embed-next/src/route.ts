/** The file `app/workspaces/[...path]/route.ts` of a Next.js application. */
import { atelier } from "./atelier.js"

export const runtime = "nodejs"
export const dynamic = "force-dynamic"

const handle = async (request: Request): Promise<Response> => (await atelier()).fetch(request)

export { handle as DELETE, handle as GET, handle as HEAD, handle as OPTIONS, handle as PATCH, handle as POST, handle as PUT }
