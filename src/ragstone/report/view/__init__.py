"""The viewer: every run of a store as pages, over an index that is made from the store and can be made again."""
