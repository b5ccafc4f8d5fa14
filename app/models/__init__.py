"""Models: choice of model and engine by the settings, and the bundled models.

Settings come in; a model's folder or an engine that is not started goes out. In reading
order:

model_choice   bundled model, folder or hub model
bundled        the models that come with the program
dequantize     GGUF file to Hugging Face folder
dummy_model    shapes with random weights
engine_choice  embedded engine or remote engines
family_report  model families that KV injection serves
"""
