/** Why a file could not be served: the answer's status, and a message that names the path. agents-and-apps.md §17a. */

/** Characters of a path that a message shows. */
const shownPath = 300

const statuses: Readonly<Record<string, number>> = {
  ENOENT: 404,
  EACCES: 403,
  EPERM: 403,
  EROFS: 403,
  ENOTDIR: 409,
  EISDIR: 409,
  EEXIST: 409,
  ENOTEMPTY: 409,
  EBUSY: 409,
  ETXTBSY: 409,
  ENXIO: 409,
  ENODEV: 409,
  EAGAIN: 409,
  ENOTSUP: 409,
  EOPNOTSUPP: 409,
  ELOOP: 400,
  ENAMETOOLONG: 400,
  EINVAL: 400,
  EILSEQ: 400,
  ENOSPC: 507,
  EDQUOT: 507,
  EFBIG: 507,
  EMFILE: 503,
  ENFILE: 503,
  ENOMEM: 503
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be accessed by the workspace's user",
  EPERM: "may not be changed by the workspace's user",
  EROFS: "is on a file system that is read-only",
  ENOTDIR: "leads through a file that is not a directory",
  EISDIR: "is a directory",
  EEXIST: "exists already",
  ENOTEMPTY: "is a directory that is not empty",
  EBUSY: "is in use",
  ETXTBSY: "is a program that is running",
  ENXIO: "is not a regular file",
  ENODEV: "is not a regular file",
  EAGAIN: "is not a regular file",
  ENOTSUP: "is on a file system that cannot do this",
  EOPNOTSUPP: "is on a file system that cannot do this",
  ELOOP: "leads through too many symbolic links",
  ENAMETOOLONG: "is too long",
  EINVAL: "is not a path that the file system accepts",
  EILSEQ: "is not a path that the file system accepts",
  ENOSPC: "cannot be written: the device has no space left",
  EDQUOT: "cannot be written: the quota of the workspace's user is used up",
  EFBIG: "cannot be written: it would be too large for its file system",
  EMFILE: "cannot be opened: too many files are open",
  ENFILE: "cannot be opened: too many files are open",
  ENOMEM: "cannot be opened: the workspace has no memory left"
}

const shown = (path: string): string => JSON.stringify(path.length > shownPath ? `${path.slice(0, shownPath)}…` : path)

/** A request that cannot be served. `message` is for the caller; `code` is the system's name of the error, if it is one. */
export class FileError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code?: string
  ) {
    super(message)
  }
}

/** A refusal of a path, for example `"/etc" is a directory.` */
export const refusal = (status: number, path: string, reason: string, code?: string): FileError =>
  new FileError(status, `${shown(path)} ${reason}.`, code)

/** The system's name of an error, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined

/** The error as an answer about a path. Errors that are not the system's are passed on. */
export const about = (path: string, error: unknown): unknown => {
  const code = codeOf(error)
  if (error instanceof FileError || code === undefined) return error
  const status = statuses[code]
  return status === undefined ? error : refusal(status, path, reasons[code] ?? `failed: ${code}`, code)
}

/** Runs an operation on a path, and names the path in its failure. */
export const at = async <A>(path: string, run: () => Promise<A>): Promise<A> => {
  try {
    return await run()
  } catch (error) {
    throw about(path, error)
  }
}

/** The value; undefined where the path does not exist, or leads through a file. */
export const unlessMissing = async <A>(run: () => Promise<A>): Promise<A | undefined> => {
  try {
    return await run()
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}
