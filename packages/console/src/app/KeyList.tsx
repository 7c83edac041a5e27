/** All keys. */
import { keysText } from "../texts/shell.js"
import { Dialog } from "../ui/floating/Dialog.js"
import { Keys, keysInWords } from "../ui/page/Keys.js"
import { navigation } from "./navigation.js"
import "./KeyList.css"

const places = navigation.flatMap(({ destinations }) =>
  destinations.flatMap(({ keys, label }) => (keys === undefined ? [] : [[keys, keysText.goTo(label)] as const]))
)

const groups: ReadonlyArray<readonly [title: string, keys: ReadonlyArray<readonly [keys: string, meaning: string]>]> = [
  [keysText.general, [["mod+k", keysText.palette], ["?", keysText.help], ["[", keysText.sidebar], ...places]],
  [
    keysText.lists,
    [
      ["/", keysText.filter],
      ["j", keysText.down],
      ["k", keysText.up],
      ["Enter", keysText.open],
      ["x", keysText.select]
    ]
  ]
]

export const KeyList = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog isOpen onClose={onClose} title={keysText.title} size="medium">
    <div className="key-groups">
      {groups.map(([title, keys]) => (
        <div key={title}>
          <h3 className="key-title">{title}</h3>
          <dl className="key-list">
            {keys.map(([key, meaning]) => (
              <div key={key}>
                <dt>{meaning}</dt>
                <dd>
                  <span className="visually-hidden">{keysInWords(key)}</span>
                  <Keys keys={key} />
                </dd>
              </div>
            ))}
          </dl>
        </div>
      ))}
    </div>
  </Dialog>
)
