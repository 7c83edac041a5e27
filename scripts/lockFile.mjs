/** Where Node looks for a package that the one at `path` asks for: its own folder first, then those of the packages around it. */
const placesOf = (path, name) => {
  const inside = `${path === "" ? "" : `${path}/`}node_modules/${name}`
  if (path === "") return [inside]
  const around = path.lastIndexOf("/node_modules/")
  return [inside, ...placesOf(around === -1 ? "" : path.slice(0, around), name)]
}

/** Lists the packages that a lock file's packages ask for and that have no entry in it, for this platform or for another one. */
export const missingPackages = (lock) =>
  Object.entries(lock.packages).flatMap(([from, { dependencies, optionalDependencies }]) =>
    Object.entries({ ...dependencies, ...optionalDependencies })
      .filter(([name]) => !placesOf(from, name).some((place) => place in lock.packages))
      .map(([name, range]) => ({ from, name, range }))
  )

/** Lists the entries of a lock file that are installed with some of its packages. */
export const reachablePackages = (lock, from) => {
  const reached = new Set()
  const open = [...from]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    const entry = lock.packages[path]
    if (entry.link === true) open.push(entry.resolved)
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies })) {
      const place = placesOf(path, name).find((each) => each in lock.packages)
      if (place !== undefined) open.push(place)
    }
  }
  return [...reached].toSorted()
}
