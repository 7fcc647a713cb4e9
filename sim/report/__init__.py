"""What a run looks like to people and programs: sentences, tables, JSON, files.

`document` turns an outcome into the JSON object, `answer` into a sentence, `tables` into tables
that the console and Markdown share, `files` into a folder.
"""
